package sim

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

func span(first, last int) (out []int) {
	for i := first; i <= last; i++ {
		out = append(out, i)
	}
	return out
}

// A scripted caller streams over the sequence wrap, loses some packets and
// never answers a NAK, or answers each.
func TestC11SequenceWrap(t *testing.T) {
	const latency = 120 * time.Millisecond
	for _, isn := range []seq.Number{seq.Max - 100, 0, seq.Max - 1, 1} {
		for name, lost := range map[string][]int{
			"none": nil, "the top": {100}, "zero": {101}, "both and more": span(95, 105), "first": {1},
		} {
			for _, resend := range []bool{false, true} {
				t.Run(fmt.Sprintf("isn %#x lost %s resend %v", uint32(isn), name, resend), func(t *testing.T) {
					w, p, h := peerAndHost(t, liveConfig(latency))
					p.AnswerACK, p.InitSeq = true, isn
					if !p.Connect(latency) {
						t.Fatal("no connection")
					}
					begin := w.Now
					if resend {
						p.OnPacket = func(h Heard) { p.answerNAK(h, begin, 10*time.Millisecond) }
					}
					p.stream(0, 10*time.Millisecond, 500, 500, func(i int) bool { return slices.Contains(lost, i) })
					w.RunFor(6 * time.Second)
					want := lost
					if resend {
						want = nil
					}
					wantIndexes(t, h.Accepted[0], 500, want)
					wantPeerDelays(t, h.Accepted[0], begin, 10*time.Millisecond, latency)
				})
			}
		}
	}
}

// answerNAK resends what a NAK asks for; packet i was made at begin + i*every.
func (p *Peer) answerNAK(h Heard, begin mono.Time, every time.Duration) {
	if t, ok := h.Control(); !ok || t != wire.CtrlNAK {
		return
	}
	_, content, _ := wire.ParseControl(h.Data)
	ranges, _ := wire.ParseNAK(nil, content)
	for _, r := range ranges {
		for n := r.First; n.LessEq(r.Last); n = n.Next() {
			i := n.Sub(p.InitSeq)
			made := begin.Add(time.Duration(i) * every)
			p.Data(i, p.StampAt(made), true, Payload(uint32(i), 500))
		}
	}
}

// wantIndexes fails the test unless exactly the lost ones of n are missing.
func wantIndexes(t *testing.T, s *Session, n int, lost []int) {
	t.Helper()
	var missing []int
	got := s.Indexes()
	if !slices.IsSorted(got) {
		t.Error("out of order")
	}
	for i := range n {
		if _, ok := slices.BinarySearch(got, uint32(i)); !ok {
			missing = append(missing, i)
		}
	}
	if !slices.Equal(missing, lost) {
		t.Errorf("missing %v, lost %v", missing, lost)
	}
}

// wantPeerDelays fails the test unless each message came latency after it was
// made, plus the 5 ms of the way.
func wantPeerDelays(t *testing.T, s *Session, begin mono.Time, every, latency time.Duration) {
	t.Helper()
	bad := 0
	for _, r := range s.Received {
		i, _ := Index(r.Data)
		made := begin.Add(time.Duration(i) * every)
		late := r.At.Sub(made) - latency - 5*time.Millisecond
		if late.Abs() > slack {
			if bad++; bad < 4 {
				t.Errorf("message %d is off by %v", i, late)
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d of %d messages not on time", bad, len(s.Received))
	}
}

func TestC11BothEndsOverTheWrap(t *testing.T) {
	for _, isn := range []seq.Number{seq.Max - 50, seq.Max - 1, 0} {
		p := NewPair(t, seed(5)).Delay(15 * time.Millisecond)
		p.Up.Config.Loss, p.Down.Config.Loss = .05, .05
		cfg := liveConfig(500 * time.Millisecond)
		cfg.ForceInitSeq, cfg.InitSeq = true, isn
		p.Connect(cfg, cfg)
		p.A.Stream(0, 10*time.Millisecond, 300, 500)
		p.B.Stream(0, 10*time.Millisecond, 300, 500)
		p.RunFor(5 * time.Second)
		Flow{p.A, p.B}.WantComplete()
		Flow{p.B, p.A}.WantComplete()
		p.Finish(20 * time.Second)
	}
}

// wrapper is a scripted caller whose time stamps wrap 3 s after its handshake.
func wrapper(t *testing.T) (*World, *Peer, *Session) {
	w, p, h := peerAndHost(t, liveConfig(120*time.Millisecond))
	p.AnswerACK = true
	p.StampBase = -wire.Timestamp((3 * time.Second).Microseconds())
	if !p.Connect(120 * time.Millisecond) {
		t.Fatal("no connection")
	}
	return w, p, h.Accepted[0]
}

func TestC12TimestampWrap(t *testing.T) {
	const every = 20 * time.Millisecond
	const wrapAt = 150 // about the packet whose stamp is zero
	for name, lost := range map[string]func(i int) bool{
		"plain":                    nil,
		"ten lost at the wrap":     func(i int) bool { return i >= wrapAt-5 && i < wrapAt+5 },
		"pause around the wrap":    func(i int) bool { return i >= wrapAt-100 && i < wrapAt+35*50 },
		"pause beyond the wrap":    func(i int) bool { return i >= wrapAt-100 && i < wrapAt+70*50 },
		"nothing before the wrap":  func(i int) bool { return i < wrapAt+10 },
		"only around the wrap":     func(i int) bool { return i < wrapAt-3 || i > wrapAt+3 },
		"nothing for four minutes": func(i int) bool { return i < 240*50 },
	} {
		t.Run(name, func(t *testing.T) {
			w, p, s := wrapper(t)
			n := 3000
			if name == "pause beyond the wrap" {
				n = 5000
			}
			if name == "nothing for four minutes" {
				n = 240*50 + 500
			}
			begin, lostSet, number := w.Now, map[int]bool{}, 0
			w.Every(0, every, n, func(i int) {
				if lost != nil && lost(i) {
					lostSet[i] = true
					if name != "ten lost at the wrap" {
						return // a pause: no number is used up
					}
				} else {
					p.Data(number, p.Stamp(), false, Payload(uint32(i), 188))
				}
				number++
			})
			p.keepAlive(int(every.Seconds()*float64(n)) + 2)
			w.RunFor(time.Duration(n)*every + 2*time.Second)
			if s.Ended() {
				t.Fatalf("ended: %v", s.Err)
			}
			if got := len(s.Indexes()); got != n-len(lostSet) {
				t.Errorf("%d messages of %d", got, n-len(lostSet))
			}
			wantPeerDelays(t, s, begin, every, 120*time.Millisecond)
		})
	}
}

// A packet stamped before the wrap is repeated after it.
func TestC12RetransmissionOverTheWrap(t *testing.T) {
	const every = 20 * time.Millisecond
	w, p, s := wrapper(t)
	begin := w.Now
	old := p.StampAt(begin.Add(148 * every))
	p.stream(0, every, 400, 188, func(i int) bool { return i == 148 })
	w.After(148*every+100*time.Millisecond, func() {
		if p.Stamp() > old {
			t.Error("the wrap is not between the two")
		}
		p.Data(148, old, true, Payload(148, 188))
	})
	w.RunFor(10 * time.Second)
	wantIndexes(t, s, 400, nil)
	wantPeerDelays(t, s, begin, every, 120*time.Millisecond)
}

// An ACKACK stamped just past the 30 s window in which libsrt looks for the
// wrap must not move the play times.
func TestC12ACKACKJustPastTheWrapWindow(t *testing.T) {
	const every = 20 * time.Millisecond
	w, p, s := wrapper(t)
	p.AnswerACK = false
	begin := w.Now
	zero := p.Epoch.Add(3 * time.Second)
	p.OnPacket = func(h Heard) {
		if c, ok := h.Control(); !ok || c != wire.CtrlACK || len(h.Data) <= wire.HeaderSize+4 {
			return
		}
		head, _, _ := wire.ParseControl(h.Data)
		b := make([]byte, wire.HeaderSize+4)
		stamp := p.Stamp()
		if d := w.Now.Sub(zero) - 30*time.Second; d.Abs() < 200*time.Millisecond {
			stamp = 30_000_001
		}
		wire.ControlHeader{Type: wire.CtrlACKACK, Info: head.Info, Timestamp: stamp, Dest: p.RemoteID}.Put(b)
		p.Raw(b)
	}
	p.stream(0, every, 3000, 188, nil)
	w.RunFor(70 * time.Second)
	wantIndexes(t, s, 3000, nil)
	for _, r := range s.Received {
		i, _ := Index(r.Data)
		made := begin.Add(time.Duration(i) * every)
		if d := r.At.Sub(made) - 125*time.Millisecond; d.Abs() > 10*time.Millisecond {
			t.Fatalf("message %d is off by %v", i, d)
		}
	}
}

// Both ends of a Pair pass the wrap, with losses, and from idleness.
func TestC12BothEndsOverTheWrap(t *testing.T) {
	for _, idle := range []time.Duration{0, 40 * time.Second, 3 * time.Minute} {
		t.Run(idle.String(), func(t *testing.T) {
			p := NewPair(t, seed(6)).Delay(15 * time.Millisecond)
			p.Up.Config.Loss, p.Down.Config.Loss = .03, .03
			cfg := liveConfig(500 * time.Millisecond)
			cfg.TimestampBase = -wire.Timestamp((2 * time.Second).Microseconds())
			p.Connect(cfg, cfg)
			p.A.Stream(idle, 20*time.Millisecond, 300, 300)
			p.B.Stream(idle, 20*time.Millisecond, 300, 300)
			p.RunFor(idle + 8*time.Second)
			for _, f := range []Flow{{p.A, p.B}, {p.B, p.A}} {
				f.WantComplete()
				f.WantOnTime()
			}
			p.Finish(20 * time.Second)
		})
	}
}
