package service

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

const patience = 20 * time.Second

// As the new process of an upgrade the test program listens at the addresses of
// its arguments and says its name to one client at each.
func TestMain(m *testing.M) {
	switch os.Getenv("SERVICE_TEST_HEIR") {
	case "":
		os.Exit(m.Run())
	case "broken":
		os.Exit(1)
	}
	if err := heir(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "heir:", err)
		os.Exit(1)
	}
}

func heir(addrs []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Inherit()
	if err != nil {
		return err
	}
	if err := s.Await(ctx); err != nil {
		return err
	}
	srt, err := srtcore.Listen(ctx, addrs[0], nil)
	if err != nil {
		return err
	}
	var lns []net.Listener
	for _, a := range addrs[1:] {
		ln, err := s.Listen(a)
		if err != nil {
			return err
		}
		lns = append(lns, ln)
	}
	if rest := s.Rest(); len(rest) > 0 {
		return fmt.Errorf("not asked for: %v", rest)
	}
	for _, ln := range lns {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		fmt.Fprintln(c, "heir")
		c.Close()
	}
	c, err := srt.Accept(ctx)
	if err != nil {
		return err
	}
	if _, err := c.Write([]byte("heir")); err != nil {
		return err
	}
	return c.Close()
}

// TestUpgradeKeepsEveryPort: clients that come between the two processes wait
// and are served by the second.
func TestUpgradeKeepsEveryPort(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := Inherit()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "api")
	tcp, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unix, err := s.Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	srt, err := srtcore.Listen(ctx, "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	udp, err := srt.Files()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SERVICE_TEST_HEIR", "1")
	at := srt.Addr().String()
	h, err := s.Upgrade(ctx, os.Args[0], []string{at, tcp.Addr().String(), "unix:" + path}, udp)
	closeAll(udp)
	if err != nil {
		t.Fatal(err)
	}
	tcp.Close()
	unix.Close()
	srt.Close()

	first, second := dial(t, "tcp", tcp.Addr().String()), dial(t, "unix", path)
	c := make(chan *srtcore.Conn, 1)
	go func() {
		conn, err := srtcore.Dial(ctx, at, nil)
		if err != nil {
			t.Error(err)
		}
		c <- conn
	}()
	if err := h.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range []net.Conn{first, second} {
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != "heir\n" {
			t.Errorf("%s: got %q, %v", conn.RemoteAddr(), line, err)
		}
		conn.Close()
	}
	conn := <-c
	if conn == nil {
		t.FailNow()
	}
	got := make([]byte, 100)
	if n, err := conn.Read(got); string(got[:n]) != "heir" {
		t.Errorf("over SRT: %q, %v", got[:n], err)
	}
	conn.Abort()
	<-h.ended
	if h.err != nil {
		t.Errorf("the new process: %v", h.err)
	}
}

func dial(t *testing.T, network, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout(network, addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(patience))
	return c
}

// A new process that fails changes nothing.
func TestUpgradeThatFails(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s := &Sockets{open: map[string]net.Listener{}}
	ln, err := s.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	t.Setenv("SERVICE_TEST_HEIR", "broken")
	if _, err := s.Upgrade(ctx, os.Args[0], nil, nil); err == nil || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("Upgrade = %v, want what the new process ended with", err)
	}
	if _, err := s.Upgrade(ctx, "/nonexistent/weirline", nil, nil); err == nil || !strings.Contains(err.Error(), "/nonexistent") {
		t.Errorf("Upgrade = %v, want the program's name", err)
	}
	go func() {
		if c, err := ln.Accept(); err == nil {
			io.WriteString(c, "still here\n")
			c.Close()
		}
	}()
	if line, err := bufio.NewReader(dial(t, "tcp", ln.Addr().String())).ReadString('\n'); err != nil {
		t.Errorf("%q, %v", line, err)
	}
}

func TestUnixSocketsLeftOver(t *testing.T) {
	s := &Sockets{open: map[string]net.Listener{}}
	path := filepath.Join(t.TempDir(), "api")
	ln, err := s.Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen("unix:" + path); err == nil || !strings.Contains(err.Error(), "another process answers") {
		t.Errorf("a socket in use was taken: %v", err)
	}
	ln.Close() // the name stays, as after a crash
	again, err := s.Listen("unix:" + path)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Listen("unix:" + file); err == nil {
		t.Error("a file was replaced by a socket")
	}
}

// Notices go to the socket that systemd names, and to nobody without.
func TestNotices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	Ready("to nobody")
	t.Setenv("NOTIFY_SOCKET", path)
	Ready("serving")
	want(t, conn, fmt.Sprintf("MAINPID=%d\nREADY=1\nSTATUS=serving", os.Getpid()))
	t.Setenv("WATCHDOG_USEC", "3000")
	t.Setenv("WATCHDOG_PID", fmt.Sprint(os.Getpid()))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	asked := 0
	go func() { defer close(done); Watchdog(ctx, func() { asked++ }) }()
	want(t, conn, "WATCHDOG=1")
	cancel()
	<-done
	if asked == 0 {
		t.Error("nobody was asked whether all is well")
	}
	Stopping()
	got := heard(t, conn)
	for got == "WATCHDOG=1" { // said before its end
		got = heard(t, conn)
	}
	if got != "STOPPING=1" {
		t.Errorf("systemd heard %q at the end", got)
	}
}

func heard(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 256)
	n, err := conn.Read(b)
	if err != nil {
		t.Fatalf("systemd hears nothing: %v", err)
	}
	return string(b[:n])
}

func want(t *testing.T, conn *net.UnixConn, text string) {
	t.Helper()
	if got := heard(t, conn); got != text {
		t.Errorf("systemd heard %q, want %q", got, text)
	}
}
