package srtcore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

func TestOnRequest(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		l := r.listen("127.0.0.1:0", func(c *srtcore.Config) { c.OnRequest = gate })
		for id, want := range map[string]srtcore.RejectReason{
			"refuse/1403":  1403,
			"refuse/plain": srtcore.RejPredefined,
			"refuse/panic": srtcore.RejInternal,
			"refuse/short": srtcore.RejPredefined,
		} {
			_, err := r.tryDial(l.Addr().String(), func(c *srtcore.Config) { c.StreamID = id })
			rej, ok := errors.AsType[*srtcore.RejectError](err)
			if !ok || rej.Reason != want || !rej.Remote {
				t.Errorf("%s: Dial = %v, want a remote RejectError with code %d", id, err, want)
			}
		}
		c := r.dial(l.Addr().String(), func(c *srtcore.Config) { c.StreamID, c.Passphrase = "secret", "of this caller" })
		s := r.accept(l)
		r.wantWrite(c, "hello")
		r.wantRead(s, "hello")
	})
}

// gate is a listener's callback.
func gate(q *srtcore.ConnRequest) error {
	switch q.StreamID {
	case "refuse/1403":
		return &srtcore.RejectError{Reason: 1403}
	case "refuse/plain":
		return errors.New("no")
	case "refuse/panic":
		panic("a bug in the application")
	case "refuse/short":
		_ = q.SetPassphrase("short")
	case "secret":
		if !q.Encrypted || q.RemoteAddr == nil || q.LocalAddr == nil || q.PeerVersion == 0 {
			return fmt.Errorf("incomplete request: %+v", q)
		}
		return q.SetPassphrase("of this caller")
	}
	return nil
}

func TestWrongPassphrase(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) { c.Passphrase = "the listener's" })
	for pass, want := range map[string]srtcore.RejectReason{
		"the caller's": srtcore.RejBadSecret,
		"":             srtcore.RejUnsecure,
	} {
		_, err := r.tryDial(l.Addr().String(), func(c *srtcore.Config) { c.Passphrase = pass })
		if !errors.Is(err, &srtcore.RejectError{Reason: want}) || !strings.Contains(err.Error(), "same passphrase") {
			t.Errorf("Dial = %v, want reason %v and a remedy", err, want)
		}
	}
}

func TestBacklog(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) { c.Backlog = 2 })
	for range 2 {
		r.dial(l.Addr().String())
	}
	if _, err := r.tryDial(l.Addr().String()); !errors.Is(err, &srtcore.RejectError{Reason: srtcore.RejBacklog}) {
		t.Errorf("Dial = %v, want backlog", err)
	}
	r.accept(l)
	r.dial(l.Addr().String())
}

// Callers that have gone make room in the backlog.
func TestBacklogOfTheDead(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) { c.Backlog = 1 })
	for range 3 {
		wantSoon(t, "room in the backlog", func() bool {
			c, err := r.tryDial(l.Addr().String())
			if err != nil {
				return false
			}
			return c.Close() == nil
		})
	}
}

func TestSlowCallbackBlocksNobody(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	release := make(chan struct{})
	var once sync.Once
	free := func() { once.Do(func() { close(release) }) }
	defer free()
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) {
		c.OnRequest = func(q *srtcore.ConnRequest) error {
			if q.StreamID == "slow" {
				<-release
			}
			return nil
		}
	})
	slow := make(chan error, 1)
	go func() {
		c, err := r.tryDial(l.Addr().String(), func(c *srtcore.Config) { c.StreamID = "slow" })
		if err == nil {
			_ = c.Abort()
		}
		slow <- err
	}()
	for range 3 {
		r.dial(l.Addr().String())
		if c := r.accept(l); c.StreamID() == "slow" {
			t.Error("the slow one came first")
		}
	}
	free()
	if err := <-slow; err != nil {
		t.Error(err)
	}
}

func TestListenerClose(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		l := r.listen("127.0.0.1:0")
		addr := l.Addr().String()
		a := r.dial(addr)
		b := r.accept(l)
		waiting := r.dial(addr) // nobody will accept it
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := l.NetListener().Accept(); err == nil {
				_, err = l.NetListener().Accept()
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("Accept = %v, want ErrClosed", err)
				}
			}
		})
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if err := l.Close(); !errors.Is(err, srtcore.ErrClosed) {
			t.Errorf("second Close = %v", err)
		}
		_, err := r.tryDial(addr, func(c *srtcore.Config) { c.ConnTimeout = 100 * time.Millisecond })
		if err == nil {
			t.Error("the closed listener accepts")
		}
		r.wantWrite(a, "still here")
		r.wantRead(b, "still here")
		_ = waiting.Abort()
	})
}

// While accepted connections live on, another Listener may take the port.
func TestListenAgain(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		l := r.listen("127.0.0.1:0")
		addr := l.Addr().String()
		a := r.dial(addr)
		b := r.accept(l)
		if _, err := srtcore.Listen(r.ctx, addr, &r.cfg); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("second Listen = %v, want EADDRINUSE", err)
		}
		for i := range 5 {
			_ = l.Close()
			if i == 3 {
				_, _ = a.Close(), b.Close() // now the port is released, too
			}
			l = r.listen(addr)
			c := r.dial(addr)
			s := r.accept(l)
			r.wantWrite(c, "new")
			r.wantRead(s, "new")
			if i < 3 {
				r.wantWrite(a, "old")
				r.wantRead(b, "old")
			}
			if i%2 == 1 {
				_, _ = c.Close(), s.Close()
			}
		}
	})
}

func TestAcceptContext(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0")
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error)
	go func() { _, err := l.Accept(ctx); done <- err }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Accept = %v", err)
	}
	r.dial(l.Addr().String())
	r.accept(l)
}

// Twenty callers that join at once all get in.
func TestStampede(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		l := r.listen("127.0.0.1:0")
		var wg sync.WaitGroup
		var joined atomic.Int32
		for range 20 {
			wg.Go(func() {
				if c, err := r.tryDial(l.Addr().String()); err != nil {
					t.Error(err)
				} else {
					joined.Add(1)
					_ = c.Close()
				}
			})
		}
		wg.Wait()
		if joined.Load() != 20 {
			t.Errorf("%d of 20 joined", joined.Load())
		}
	})
}

func TestListenErrors(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	for addr, want := range map[string]string{
		"127.0.0.1":              "host:port",
		"192.0.2.1:0":            "no interface of this machine",
		"127.0.0.1:no-service":   "port number",
		"no-such-host.invalid:1": "no-such-host.invalid",
	} {
		_, err := srtcore.Listen(r.ctx, addr, &r.cfg)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "listen "+addr) {
			t.Errorf("Listen %q = %v, want it to say %q", addr, err, want)
		}
	}
	bad := r.cfg
	bad.MSS = 9000
	if _, err := srtcore.Listen(r.ctx, "127.0.0.1:0", &bad); err == nil {
		t.Error("a bad configuration was taken")
	}
}

// An application that accepted a caller learns that the key exchange refused it.
func TestOnRefused(t *testing.T) {
	onRuntimes(t, func(t *testing.T, r *rig) {
		told := make(chan srtcore.RejectReason, 4)
		l := r.listen("127.0.0.1:0", func(c *srtcore.Config) {
			c.OnRequest = func(q *srtcore.ConnRequest) error {
				q.OnRefused = func(reason srtcore.RejectReason) { told <- reason }
				if q.StreamID == "no" {
					return errors.New("no")
				}
				return q.SetPassphrase("of this caller")
			}
		})
		for pass, want := range map[string]srtcore.RejectReason{"another's own": srtcore.RejBadSecret, "": srtcore.RejUnsecure} {
			if _, err := r.tryDial(l.Addr().String(), func(c *srtcore.Config) { c.Passphrase = pass }); err == nil {
				t.Fatal("connected with a wrong passphrase")
			}
			select {
			case got := <-told:
				if got != want {
					t.Errorf("OnRefused(%v), want %v", got, want)
				}
			case <-r.ctx.Done():
				t.Fatal("OnRefused was not called")
			}
		}
		if _, err := r.tryDial(l.Addr().String(), func(c *srtcore.Config) { c.StreamID = "no" }); err == nil {
			t.Fatal("connected although refused")
		}
		r.dial(l.Addr().String(), func(c *srtcore.Config) { c.Passphrase = "of this caller" })
		r.accept(l)
		if len(told) != 0 {
			t.Errorf("OnRefused(%v) for a caller that OnRequest refused, or that was accepted", <-told)
		}
	})
}

// OnRequest can have the passphrase checked before it asks others; the answer is
// what the caller would be told after it.
func TestCheckPassphrase(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	var said atomic.Pointer[error]
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) {
		c.Passphrase = "the listener's"
		c.OnRequest = func(q *srtcore.ConnRequest) error {
			var err error
			switch q.StreamID {
			case "own":
				err = q.SetPassphrase("of this caller")
			case "none":
				err = q.SetPassphrase("")
			}
			if err == nil {
				err = q.CheckPassphrase()
			}
			said.Store(&err)
			return nil // the check alone refuses nobody
		}
	})
	for _, c := range []struct {
		id, passphrase string
		want           srtcore.RejectReason
	}{
		{"", "the listener's", 0},
		{"", "of this caller", srtcore.RejBadSecret},
		{"", "", srtcore.RejUnsecure},
		{"own", "of this caller", 0},
		{"own", "the listener's", srtcore.RejBadSecret},
		{"none", "", 0},
		{"none", "the listener's", srtcore.RejUnsecure},
	} {
		want := error(nil)
		if c.want != 0 {
			want = &srtcore.RejectError{Reason: c.want}
		}
		_, err := r.tryDial(l.Addr().String(), func(f *srtcore.Config) { f.StreamID, f.Passphrase = c.id, c.passphrase })
		if checked := *said.Load(); !errors.Is(checked, want) || !errors.Is(err, want) {
			t.Errorf("%+v: checked %v, Dial %v", c, checked, err)
		}
	}
	l = r.listen("127.0.0.1:0", func(c *srtcore.Config) {
		c.Passphrase, c.EnforcedEncryption = "the listener's", false
		c.OnRequest = func(q *srtcore.ConnRequest) error { return q.CheckPassphrase() }
	})
	r.dial(l.Addr().String(), func(c *srtcore.Config) { c.Passphrase, c.EnforcedEncryption = "another one", false })
}
