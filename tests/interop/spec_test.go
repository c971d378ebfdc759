package interop

import (
	"cmp"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

const passphrase = "correct horse battery"

// spec is what one end of a connection is told.
type spec struct {
	host    string // 127.0.0.1 or ::1
	port    int
	listen  bool
	keyLen  int // 0: not encrypted
	latency time.Duration
	pass    string // instead of the usual passphrase
	more    string // further options, each with its &
	cut     int    // bytes of a message, where a program has to be told; 0: the usual
}

func (s spec) addr() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// url writes the spec as a URL; unit is what the program counts latency in, esc
// how it wants the passphrase written.
func (s spec) url(unit time.Duration, esc func(string) string) string {
	mode := "caller"
	if s.listen {
		mode = "listener"
	}
	u := fmt.Sprintf("srt://%s?mode=%s&latency=%d", s.addr(), mode, s.latency/unit)
	if s.keyLen > 0 {
		u += fmt.Sprintf("&passphrase=%s&pbkeylen=%d", esc(cmp.Or(s.pass, passphrase)), s.keyLen)
	}
	return u + s.more
}

// chunk is the size of a message as an argument.
func (s spec) chunk() string { return strconv.Itoa(cmp.Or(s.cut, message)) }

func verbatim(s string) string { return s }

func percent(s string) string { return strings.ReplaceAll(s, " ", "%20") }

// waitBound waits until somebody has bound the port, as the system sees it:
// trying to bind it would get in the listener's way.
func waitBound(t *testing.T, port int) {
	t.Helper()
	want := fmt.Sprintf(":%04X ", port)
	eventually(t, fmt.Sprintf("nobody listens on port %d", port), func() bool {
		for _, name := range []string{"/proc/net/udp", "/proc/net/udp6"} {
			text, _ := os.ReadFile(name)
			for line := range strings.Lines(string(text)) {
				if f := strings.Fields(line); len(f) > 1 && strings.Contains(f[1]+" ", want) {
					return true
				}
			}
		}
		return false
	})
}

// patience bounds every wait; what is waited for normally takes a fraction.
const patience = 20 * time.Second

func eventually(t *testing.T, complaint string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(complaint)
		}
	}
}
