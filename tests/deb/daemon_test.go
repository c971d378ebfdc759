package deb

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// daemon is the service as systemd would start it.
type daemon struct {
	*proctest.Process
	notices *net.UnixConn
}

// start runs the installed program with the configuration that is there. sockets
// are handed to it as systemd does, and the watchdog is on.
func start(t *testing.T, root string, sockets []*os.File) *daemon {
	t.Helper()
	return startProgram(t, root, sockets, "--userspec=weirline:weirline", root, "/usr/bin/weirline", "serve", "--config", configFile)
}

// startProgram runs chroot, as systemd would start the program in it.
func startProgram(t *testing.T, root string, sockets []*os.File, chroot ...string) *daemon {
	t.Helper()
	const socket = "/notify"
	if err := os.RemoveAll(filepath.Join(root, socket)); err != nil { // of the daemon before this one
		t.Fatal(err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(root, socket), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(root, socket), 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// None of shell, env and chroot is another process than what it starts.
	script := `exec env -i PATH="$PATH" NOTIFY_SOCKET=` + socket + ` WATCHDOG_USEC=300000 WATCHDOG_PID=$$ `
	if len(sockets) > 0 {
		script += fmt.Sprintf(`LISTEN_FDS=%d LISTEN_PID=$$ `, len(sockets))
	}
	argv := append([]string{"sh", "-c", script + `chroot "$@"`, "sh"}, chroot...)
	return &daemon{proctest.Start(t, proctest.Program{Args: argv, Files: sockets, SayAll: true}), conn}
}

// notice waits for a line that the daemon tells systemd.
func (d *daemon) notice(t *testing.T, line string) {
	t.Helper()
	d.notices.SetReadDeadline(time.Now().Add(proctest.Patience))
	b := make([]byte, 4096)
	for {
		n, err := d.notices.Read(b)
		if err != nil {
			t.Fatalf("systemd was not told %s: %v", line, err)
		}
		if strings.Contains("\n"+string(b[:n])+"\n", "\n"+line+"\n") {
			return
		}
	}
}

func (d *daemon) wantUnprivileged(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.Pid()))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "Uid:\t0\t") || strings.HasPrefix(line, "CapEff:") && !strings.Contains(line, "0000000000000000") {
			t.Errorf("the daemon has rights: %s", line)
		}
	}
}

func (d *daemon) stop(t *testing.T) {
	t.Helper()
	d.Signal(syscall.SIGTERM)
	d.notice(t, "STOPPING=1")
	d.WantCode(0)
}
