package proctest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Need ends the test if a program that it uses does not run: a test that is left
// out for that proves nothing.
func Need(t testing.TB, pkg string, probe ...string) {
	t.Helper()
	if err := exec.Command(probe[0], probe[1:]...).Run(); err != nil {
		t.Fatalf("%v does not run here (%v); install the package %s (make deps)", probe, err, pkg)
	}
}

// Eventually waits for a condition; if it does not come, the test ends with the
// complaint.
func Eventually(t testing.TB, complaint string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s (within %v)", complaint, Patience)
		}
	}
}

// WaitBound waits until somebody has the port of udp, or listens at that of tcp.
func WaitBound[Port int | string](t testing.TB, network string, port Port) {
	t.Helper()
	Eventually(t, fmt.Sprintf("nobody listens on %s port %v", network, port), func() bool { return Bound(network, port) })
}

// Bound reports whether somebody has the port, as the system sees it: trying to
// bind it would get in the listener's way.
func Bound[Port int | string](network string, port Port) bool {
	n, err := strconv.Atoi(fmt.Sprint(port))
	if err != nil {
		return false
	}
	want := fmt.Sprintf(":%04X", n)
	for _, name := range []string{"/proc/net/" + network, "/proc/net/" + network + "6"} {
		text, _ := os.ReadFile(name)
		for line := range strings.Lines(string(text)) {
			f := strings.Fields(line) // number, local address, the other, state
			if len(f) > 3 && strings.HasSuffix(f[1], want) && slices.Contains(listening[network], f[3]) {
				return true
			}
		}
	}
	return false
}

// listening are the states of a socket that waits for whoever comes, in the
// system's numbers: of UDP one that is not connected, and one that is.
var listening = map[string][]string{"tcp": {"0A"}, "udp": {"07", "01"}}

// Tail is a writer that keeps the end of what is written.
type Tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

const keep = 16 << 10

func (l *Tail) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b.Len() > keep {
		l.b.Next(l.b.Len() - keep/2)
	}
	return l.b.Write(b)
}

func (l *Tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
