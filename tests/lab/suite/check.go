package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// Names of our own programs beside the peers.
const (
	loadProgram = "load"
	sides       = "sides" // weirline's own sides of a pair
	httpWriter  = "httpwriter"
)

// programs tells the file of every program.
func (l *lab) path(name string) string {
	file := map[string]string{
		profile.Libsrt: "srtbench", profile.Shared: "srtbench", profile.Gosrt: "gosrtbench",
		profile.RawGSO: "rawudp", profile.RawMmsg: "rawudp",
	}[name]
	switch {
	case name == profile.Weirline:
		return l.weirline
	case file == "":
		file = name
	}
	return filepath.Join(l.peers, file)
}

// The least that the measurements need. Two seconds of 2 Gbit/s in the receive
// buffer of one socket is too much to ask; a tick or two of it is not.
const (
	leastRmem  = 2 << 20
	leastFiles = 4096
)

// check says what stands in the way, with the remedy, before anything runs. It
// notes the programs on the way.
func (l *lab) check(items []item) (problems []string) {
	need := []string{profile.Weirline, sides}
	for _, it := range items {
		for _, n := range it.needs() {
			if !slices.Contains(need, n) {
				need = append(need, n)
			}
		}
	}
	for _, n := range need {
		sum, err := proc.Checksum(l.path(n))
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s is missing at %s: run make lab, which builds it (make deps installs what that takes)", n, l.path(n)))
			continue
		}
		l.result.Programs = append(l.result.Programs, report.Program{Name: n, Version: l.version(n), SHA256: sum})
	}
	files, _ := proc.RaiseFiles()
	return append(problems, limits(proc.ThisMachine().RmemMax, files, wanted(items), l.cores())...)
}

// wanted is how many files the largest item opens in one process.
func wanted(items []item) uint64 {
	n := uint64(leastFiles)
	for _, it := range items {
		if s, ok := it.(scenario); ok && s.s.Name == profile.Fanout {
			n = max(n, uint64(s.set.Cap)+256) // a socket for each player
		}
	}
	return n
}

func limits(rmem int64, files, want uint64, c cores) (problems []string) {
	if rmem < leastRmem {
		problems = append(problems, fmt.Sprintf("net.core.rmem_max is %d, too small for a burst: sysctl -w net.core.rmem_max=%d net.core.wmem_max=%d", rmem, 4<<20, 4<<20))
	}
	if files < want {
		problems = append(problems, fmt.Sprintf("%d open files are allowed and cannot be raised, %d are needed: ulimit -n %d as root, or LimitNOFILE", files, want, want))
	}
	if _, err := exec.LookPath("taskset"); err != nil && c.test != "" {
		problems = append(problems, "taskset is missing: apt-get install util-linux")
	}
	return problems
}

// version asks the system or the program itself.
func (l *lab) version(name string) string {
	switch name {
	case profile.Weirline:
		return proc.Commit()
	case profile.Libsrt, profile.Shared:
		out, _ := exec.Command("pkg-config", "--modversion", "srt").Output()
		deb, _ := exec.Command("dpkg-query", "-W", "-f", "${Version}", "libsrt-openssl-dev").Output()
		return strings.TrimSpace(strings.TrimSpace(string(out)) + " (Debian " + string(deb) + ")")
	case profile.Gosrt:
		text, _ := os.ReadFile("tests/lab/peer/gosrtbench/go.mod")
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) >= 2 && f[0] == "github.com/datarhei/gosrt" {
				return f[1]
			}
		}
	}
	return ""
}
