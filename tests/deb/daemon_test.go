package deb

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// daemon is the service as systemd would start it.
type daemon struct {
	cmd     *exec.Cmd
	notices *net.UnixConn
	log     bytes.Buffer
	ended   chan struct{}
	err     error
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
	d := &daemon{notices: conn, ended: make(chan struct{})}
	// Neither the shell nor chroot is another process than what they start.
	d.cmd = exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ WATCHDOG_PID=$$ exec chroot "$@"`, "sh"}, chroot...)...)
	d.cmd.Env = []string{"NOTIFY_SOCKET=" + socket, "PATH=" + os.Getenv("PATH"), "WATCHDOG_USEC=300000"}
	if d.cmd.ExtraFiles = sockets; len(sockets) > 0 {
		d.cmd.Env = append(d.cmd.Env, fmt.Sprintf("LISTEN_FDS=%d", len(sockets)))
	}
	d.cmd.Stdout, d.cmd.Stderr = &d.log, &d.log
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(d.ended)
		d.err = d.cmd.Wait()
	}()
	t.Cleanup(func() {
		d.cmd.Process.Kill()
		<-d.ended
		conn.Close()
		if t.Failed() {
			t.Logf("the daemon said:\n%s", d.log.String())
		}
	})
	return d
}

// notice waits for a line that the daemon tells systemd.
func (d *daemon) notice(t *testing.T, line string) {
	t.Helper()
	d.notices.SetReadDeadline(time.Now().Add(patience))
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
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
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
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	d.notice(t, "STOPPING=1")
	select {
	case <-d.ended:
		if d.err != nil {
			t.Errorf("the daemon ended with %v", d.err)
		}
	case <-time.After(patience):
		t.Errorf("the daemon did not end within %v", patience)
	}
}
