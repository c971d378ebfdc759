//go:build unix

package execwrap

import (
	"net"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestWithoutProxy(t *testing.T) {
	for _, c := range []struct{ env, want []string }{
		{[]string{"A=1"}, []string{"A=1"}},
		{[]string{"http_proxy=x"}, []string{"http_proxy=x", "no_proxy=127.0.0.1"}},
		{[]string{"no_proxy=a", "http_proxy=x"}, []string{"no_proxy=a,127.0.0.1", "http_proxy=x"}},
		{[]string{"no_proxy=a"}, []string{"no_proxy=a"}},
	} {
		if got := withoutProxy(slices.Clone(c.env)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.env, got, c.want)
		}
	}
}

func run(t *testing.T, argv ...string) (int, error) {
	t.Helper()
	s := Catch()
	defer s.Release()
	return s.Run(argv, func() {})
}

func TestExitCodes(t *testing.T) {
	for want, argv := range map[int][]string{
		0: {"true"}, 3: {"sh", "-c", "exit 3"}, 128 + 9: {"sh", "-c", "kill -9 $$"}, 128 + 15: {"sh", "-c", "kill -15 $$"},
	} {
		if code, err := run(t, argv...); code != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", argv, code, err, want)
		}
	}
	if code, err := run(t, "no-such-program-here"); code != 127 || err == nil {
		t.Errorf("a missing program: %d, %v", code, err)
	}
	if code, err := run(t, os.DevNull); code != 126 || err == nil {
		t.Errorf("a file that is no program: %d, %v", code, err)
	}
}

// A signal for this process reaches the program, once.
func TestSignalsAreHandedOn(t *testing.T) {
	s := Catch()
	defer s.Release()
	told := make(chan struct{}, 1)
	// It ends with the number of signals that came within a while.
	script := `n=0; trap 'n=$((n+1))' USR1; trap 'exit 9' TERM; kill -USR1 $PPID; i=0; while [ $i -lt 4 ]; do sleep 0.1; i=$((i+1)); done; exit $n`
	if code, err := s.Run([]string{"sh", "-c", script}, func() { told <- struct{}{} }); code != 1 || err != nil {
		t.Errorf("%d signals came, %v; want 1", code, err)
	}
	select {
	case <-told:
		t.Error("SIGUSR1 is taken for a request to stop")
	default:
	}
}

// A program that does not stop when told to is reported, once.
func TestStoppingIsTold(t *testing.T) {
	s := Catch()
	defer s.Release()
	told := 0
	script := `trap '' TERM; kill -TERM $PPID; sleep 0.6; exit 4`
	if code, err := s.Run([]string{"sh", "-c", script}, func() { told++ }); code != 4 || err != nil || told != 1 {
		t.Errorf("code %d, %v, told %d times", code, err, told)
	}
}

func TestHurryEndsWithTheNextSignal(t *testing.T) {
	s := Catch()
	defer s.Release()
	ctx, cancel := s.Hurry()
	defer cancel()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		t.Error("the signal is not seen")
	}
}

// A connection of this process's is this user's. That to an address that is shut
// is refused, others are not.
func TestDoors(t *testing.T) {
	d := newDoors()
	defer d.Close()
	first, second := d.addr(0), d.addr(1)
	come := func(addr string) {
		t.Helper()
		out, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		in, err := d.Accept()
		if err != nil {
			t.Fatal(err)
		}
		in.Close()
	}
	come(first)
	come(second)
	d.shut(0)
	if c, err := net.Dial("tcp", first); err == nil {
		c.Close()
		t.Error("a door that is shut is open")
	}
	come(second)
	if d.Close(); d.Close() != nil {
		t.Error("closed twice")
	}
	if _, err := d.Accept(); err == nil {
		t.Error("somebody comes after the end")
	}
}
