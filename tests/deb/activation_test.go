package deb

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantActivated starts the daemon with the sockets of the package's socket unit
// and the example at the end of its configuration, which have to agree. Only the
// port numbers are others.
func wantActivated(t *testing.T, root string, p ports) {
	t.Helper()
	p.stream = "live/studio"
	moved := strings.NewReplacer("9710", fmt.Sprint(p.http), "9711", fmt.Sprint(p.control), ":9000\"", fmt.Sprintf(":%d\"", p.srt),
		"]:9000", fmt.Sprintf("]:%d", p.srt))
	text := uncommented(t, moved.Replace(packaged(t, "weirline.yaml")))
	write(t, root, text)
	inside(t, root, "weirline", "check-config", configFile)
	backup := strings.LastIndex(strings.TrimSpace(text), "\n") // the last output is of another machine
	write(t, root, text[:backup+1])

	d := start(t, root, sockets(t, moved.Replace(packaged(t, "weirline.socket"))))
	d.notice(t, "READY=1")
	wantHealthy(t, p)
	wantCarried(t, p)
	d.notice(t, "WATCHDOG=1")
	d.stop(t)
	if said := d.Said.String(); strings.Contains(said, "inherited") {
		t.Errorf("the socket unit and the configuration do not agree:\n%s", said)
	}
}

func packaged(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../../sidecar/packaging", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// uncommented is the configuration with its example.
func uncommented(t *testing.T, text string) string {
	t.Helper()
	before, example, ok := strings.Cut(text, "# listeners:\n")
	if !ok {
		t.Fatal("the configuration has no example")
	}
	var b strings.Builder
	b.WriteString(before + "listeners:\n")
	for line := range strings.Lines(example) {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
	}
	return b.String()
}

// sockets opens what a socket unit lists.
func sockets(t *testing.T, unit string) (files []*os.File) {
	t.Helper()
	for line := range strings.Lines(unit) {
		key, at, _ := strings.Cut(strings.TrimSpace(line), "=")
		var s interface {
			File() (*os.File, error)
			Close() error
		}
		var err error
		switch key {
		case "ListenStream":
			var ln net.Listener
			ln, err = net.Listen("tcp", at)
			s, _ = ln.(*net.TCPListener)
		case "ListenDatagram":
			var c net.PacketConn
			c, err = net.ListenPacket("udp", at)
			s, _ = c.(*net.UDPConn)
		default:
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.File()
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		t.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	return files
}
