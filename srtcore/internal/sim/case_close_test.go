package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/wire"
)

func TestC16LastPacketsAtClose(t *testing.T) {
	for _, latency := range []time.Duration{120, 500, 2000} {
		latency *= time.Millisecond
		for _, lost := range []int{0, 1, 5} {
			t.Run(fmt.Sprintf("%v last %d lost", latency, lost), func(t *testing.T) {
				p := NewPair(t, seed(1)).Delay(15 * time.Millisecond)
				cfg := liveConfig(latency)
				p.Connect(cfg, cfg)
				p.Up.Config.Drop = func(pkt *Packet) bool {
					return pkt.IsData() && pkt.Attempt == 1 && len(p.A.Sent) > 300-lost
				}
				p.A.Stream(0, 10*time.Millisecond, 300, 1316)
				p.RunUntil(10*time.Second, func() bool { return len(p.A.Sent) == 300 })
				closed := p.Now
				p.A.Close()
				p.WantEnd(30 * time.Second)
				Flow{p.A, p.B}.WantComplete()
				if d := p.A.ClosedAt.Sub(closed); d > latency+time.Second {
					t.Errorf("closing took %v at a latency of %v", d, latency)
				}
				wantEndAfterLast(t, p.B)
			})
		}
	}
}

// wantEndAfterLast fails the test unless the end came after the last message,
// as a close by the peer, and without undue delay.
func wantEndAfterLast(t *testing.T, s *Session) {
	t.Helper()
	last := s.Received[len(s.Received)-1].At
	if !errors.Is(s.Err, engine.ErrPeerShutdown) {
		t.Errorf("ended with %v", s.Err)
	}
	if s.ClosedAt < last || s.ClosedAt.Sub(last) > time.Second {
		t.Errorf("the end was reported %v after the last message", s.ClosedAt.Sub(last))
	}
}

// A sender that says SHUTDOWN right behind its last packet: what the receiver
// holds is still delivered, on schedule.
func TestC16ShutdownBehindTheLastPacket(t *testing.T) {
	for _, latency := range []time.Duration{120, 500, 2000} {
		latency *= time.Millisecond
		w, p, h := peerAndHost(t, liveConfig(latency))
		p.AnswerACK = true
		if !p.Connect(latency) {
			t.Fatal("no connection")
		}
		begin := w.Now
		p.stream(0, 10*time.Millisecond, 300, 1316, nil)
		w.After(299*10*time.Millisecond+time.Microsecond, func() { p.Control(wire.CtrlShutdown, 0, make([]byte, 4)) })
		w.RunFor(3*time.Second + latency + time.Second)
		s := h.Accepted[0]
		if got := len(s.Indexes()); got != 300 {
			t.Errorf("latency %v: %d messages of 300", latency, got)
		}
		wantPeerDelays(t, s, begin, 10*time.Millisecond, latency)
		wantEndAfterLast(t, s)
	}
}

func TestC18PeerDies(t *testing.T) {
	for name, stage := range map[string]struct {
		callerDies, idle, inflated bool
	}{
		"caller dies":                      {callerDies: true},
		"listener dies":                    {},
		"caller dies while idle":           {callerDies: true, idle: true},
		"listener dies while idle":         {idle: true},
		"caller dies after a slow spell":   {callerDies: true, inflated: true},
		"listener dies after a slow spell": {inflated: true},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
			cfg := liveConfig(120 * time.Millisecond)
			p.Connect(cfg, cfg)
			if !stage.idle {
				p.A.Stream(0, 10*time.Millisecond, 3000, 1316)
			}
			p.RunFor(3 * time.Second)
			if stage.inflated {
				p.Delay(1500 * time.Millisecond)
				p.RunFor(10 * time.Second)
			}
			dead, left := p.Listener, p.A
			if stage.callerDies {
				dead, left = p.Caller, p.B
			}
			dead.Kill()
			died := p.Now
			p.RunUntil(20*time.Second, left.Ended)
			if !left.Ended() || !errors.Is(left.Err, engine.ErrPeerIdle) {
				t.Fatalf("ended %v with %v", left.Ended(), left.Err)
			}
			// What is under way when it dies still counts as heard.
			took := left.ClosedAt.Sub(died) - p.Up.Config.Delay
			if took < 4*time.Second || took > 6*time.Second {
				t.Errorf("noticed after %v", took)
			}
		})
	}
}

// A caller that died comes back at once, from the same port: it is served
// without waiting for the end of the old connection.
func TestC18NewCallerFromTheSamePort(t *testing.T) {
	p := NewPair(t, seed(1)).Delay(10 * time.Millisecond)
	cfg := liveConfig(120 * time.Millisecond)
	p.Connect(cfg, cfg)
	p.A.Stream(0, 10*time.Millisecond, 300, 1316)
	p.RunFor(2 * time.Second)
	old := p.B
	p.Caller.Kill()
	died := p.Now
	p.Caller = p.NewHost(CallerAddr)
	p.Connect(cfg, cfg)
	p.B.Stream(0, 10*time.Millisecond, 100, 1316)
	if !p.RunUntil(time.Second, func() bool { return len(p.A.Received) > 0 }) || p.Now.Sub(died) > time.Second {
		t.Errorf("first data %v after the new start", p.Now.Sub(died))
	}
	p.RunFor(10 * time.Second)
	if !old.Ended() {
		t.Error("the old connection is still there")
	}
	Flow{p.B, p.A}.WantComplete()
}

// A caller at which nobody listens gives up after its timeout, and asks every
// 250 ms until then.
func TestConnectTimeout(t *testing.T) {
	p := NewPair(t, 1)
	asked := 0
	p.Up.Config.Tap = func(*Packet, Fate) { asked++ }
	cfg := liveConfig(120 * time.Millisecond)
	cfg.ConnTimeout = 1500 * time.Millisecond
	s := p.Caller.Dial(cfg, mustAddr("10.0.0.7:1"))
	q := p.Link(p.Caller.Addr, mustAddr("10.0.0.7:1"))
	q.Config.Tap = func(*Packet, Fate) { asked++ }
	asked = 0
	p.RunUntil(5*time.Second, s.Ended)
	if !errors.Is(s.Err, engine.ErrConnTimeout) {
		t.Fatalf("ended with %v", s.Err)
	}
	if d := s.ClosedAt.Sub(start); d < 1500*time.Millisecond || d > 1600*time.Millisecond {
		t.Errorf("gave up after %v", d)
	}
	if asked < 5 || asked > 7 {
		t.Errorf("asked %d times", asked)
	}
}
