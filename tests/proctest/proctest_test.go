package proctest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProcess(t *testing.T) {
	var out bytes.Buffer
	ended := false
	p := Start(t, Program{
		Args: []string{"sh", "-c", `read line; echo "$line $WORD"; echo said >&2; exit 7`},
		Env:  []string{"WORD=world"}, Pipe: true, Out: &out, Ended: func() { ended = true },
	})
	if !p.Running() {
		t.Error("it does not wait for its input")
	}
	fmt.Fprintln(p.In, "hello")
	p.WantCode(7)
	if p.Err == nil || !ended || p.Running() || out.String() != "hello world\n" || p.Said.String() != "said\n" {
		t.Errorf("%v, ended %v; it printed %q and said %q", p.Err, ended, out.String(), p.Said.String())
	}
}

func TestProcessIsGoneAfterItsTest(t *testing.T) {
	var kind, stubborn *Process
	t.Run("test", func(t *testing.T) {
		trap := `trap 'exit 3' INT; echo ready >&2; while :; do sleep 0.01; done`
		kind = Start(t, Program{Args: []string{"sh", "-c", trap}, Grace: Patience})
		stubborn = Start(t, Program{Args: []string{"sh", "-c", strings.Replace(trap, "exit 3", "", 1)}, Grace: 50 * time.Millisecond})
		for _, p := range []*Process{kind, stubborn} {
			Eventually(t, "it does not begin", func() bool { return p.Said.String() != "" })
		}
	})
	if c, d := kind.Code(), stubborn.Code(); c != 3 || d != 128+9 {
		t.Errorf("exit codes %d and %d, want 3 and 137", c, d)
	}
}

func TestDescriptors(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := Start(t, Program{Args: []string{"sh", "-c", "echo three >&3; pwd"}, Files: []*os.File{w}, Dir: "/", SayAll: true})
	p.WantCode(0)
	w.Close()
	b := make([]byte, 100)
	if n, _ := r.Read(b); string(b[:n]) != "three\n" || p.Said.String() != "/\n" {
		t.Errorf("by descriptor 3 came %q; it said %q", b[:n], p.Said.String())
	}
}

func TestBound(t *testing.T) {
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Fatal(err)
	}
	uport, tport := u.LocalAddr().(*net.UDPAddr).Port, l.Addr().(*net.TCPAddr).Port
	WaitBound(t, "udp", uport)
	WaitBound(t, "tcp", fmt.Sprint(tport))
	u.Close()
	l.Close()
	Eventually(t, "the ports stay", func() bool { return !Bound("udp", uport) && !Bound("tcp", tport) })
}

func TestTail(t *testing.T) {
	var l Tail
	for i := range 10000 {
		fmt.Fprintf(&l, "line %d\n", i)
	}
	if s := l.String(); len(s) > keep+100 || !strings.HasSuffix(s, "line 9999\n") {
		t.Errorf("%d bytes are kept, the last %q", len(s), s[len(s)-20:])
	}
}
