package proc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Machine names where and with what something was measured.
type Machine struct {
	CPU     string `json:"cpu"`
	Cores   int    `json:"cores"`
	Kernel  string `json:"kernel"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	MemMiB  int64  `json:"mem_mib"`
	RmemMax int64  `json:"rmem_max"`
	WmemMax int64  `json:"wmem_max"`
	Files   uint64 `json:"files"`
	Go      string `json:"go"`
	Commit  string `json:"commit"`
}

// ThisMachine reads it.
func ThisMachine() Machine {
	m := Machine{
		CPU: value("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"), OS: strings.Trim(valueBy("/etc/os-release", "PRETTY_NAME", "="), `"`),
		Arch: runtime.GOARCH, RmemMax: number("/proc/sys/net/core/rmem_max"),
		WmemMax: number("/proc/sys/net/core/wmem_max"), Go: runtime.Version(), Commit: Commit(),
	}
	if f := strings.Fields(value("/proc/meminfo", "MemTotal")); len(f) > 0 {
		kb, _ := strconv.ParseInt(f[0], 10, 64)
		m.MemMiB = kb / 1024
	}
	m.Files, _ = RaiseFiles()
	return m
}

// RaiseFiles raises the limit of open files as far as the system lets us, for
// this process and those it starts, and returns it.
func RaiseFiles() (uint64, error) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0, err
	}
	want := l
	want.Cur = max(want.Max, 1<<16)
	want.Max = want.Cur
	if unix.Setrlimit(unix.RLIMIT_NOFILE, &want) == nil { // root may go beyond the hard limit
		return want.Cur, nil
	}
	l.Cur = l.Max
	return l.Cur, unix.Setrlimit(unix.RLIMIT_NOFILE, &l)
}

// LoadAverage is how many processes wanted a core in the last minute.
func LoadAverage() float64 {
	f := strings.Fields(firstLine("/proc/loadavg"))
	if len(f) == 0 {
		return 0
	}
	v, _ := strconv.ParseFloat(f[0], 64)
	return v
}

// Commit names the revision of the working tree.
func Commit() string {
	out, _ := exec.Command("git", "describe", "--always", "--dirty", "--abbrev=12").Output()
	return strings.TrimSpace(string(out))
}

func firstLine(path string) string {
	text, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

func number(path string) int64 {
	n, _ := strconv.ParseInt(firstLine(path), 10, 64)
	return n
}

func value(path, key string) string { return valueBy(path, key, ":") }

func valueBy(path, key, sep string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, sep); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// Checksum is the SHA-256 of a file.
func Checksum(path string) (string, error) {
	full, err := exec.LookPath(path)
	if err != nil {
		return "", err
	}
	f, err := os.Open(filepath.Clean(full))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// UDP is the machine's UDP counters.
type UDP struct {
	InErrors, RcvbufErrors, SndbufErrors int64
}

// ReadUDP reads them.
func ReadUDP() UDP {
	text, _ := os.ReadFile("/proc/net/snmp")
	return parseUDP(text)
}

func parseUDP(text []byte) (u UDP) {
	var names []string
	for line := range bytes.Lines(text) {
		rest, ok := bytes.CutPrefix(line, []byte("Udp: "))
		if !ok {
			continue
		}
		f := strings.Fields(string(rest))
		if names == nil {
			names = f
			continue
		}
		for i, name := range names[:min(len(names), len(f))] {
			n, _ := strconv.ParseInt(f[i], 10, 64)
			switch name {
			case "InErrors":
				u.InErrors = n
			case "RcvbufErrors":
				u.RcvbufErrors = n
			case "SndbufErrors":
				u.SndbufErrors = n
			}
		}
	}
	return u
}

// Sub is what was added since before.
func (u UDP) Sub(before UDP) UDP {
	return UDP{u.InErrors - before.InErrors, u.RcvbufErrors - before.RcvbufErrors, u.SndbufErrors - before.SndbufErrors}
}

// FreePort returns a UDP and TCP port of the loopback that nobody uses.
func FreePort() (int, error) {
	for range 50 {
		u, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return 0, err
		}
		port := u.LocalAddr().(*net.UDPAddr).Port
		t, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
		u.Close()
		if err != nil {
			continue
		}
		t.Close()
		return port, nil
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1")
}

// UDPSockets counts the UDP sockets of a process.
func UDPSockets(pid int) int {
	inodes := map[string]bool{}
	for _, table := range []string{"udp", "udp6"} {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, table))
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 9 {
				inodes["socket:["+f[9]+"]"] = true
			}
		}
	}
	n := 0
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && inodes[to] {
			n++
		}
	}
	return n
}
