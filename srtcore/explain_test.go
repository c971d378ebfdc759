package srtcore_test

import (
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/sim"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

const ms = time.Millisecond

// trouble is one kind of bad network or end, and what the explanation must say.
type trouble struct {
	name    string
	delay   time.Duration // one way
	latency time.Duration
	change  func(caller, listener *engine.Config)
	run     func(p *sim.Pair) // after the first second
	rcv     []trace.Cause     // to be named at the receiving end, the first one most
	snd     []trace.Cause
	both    trace.Cause // what the first cause turns into with the traces of both ends
	lost    bool        // at the receiving end
	unseen  bool        // by the sending end
}

func dataOnly(f func(*sim.Packet) bool) func(*sim.Packet) bool {
	return func(p *sim.Packet) bool { return p.IsData() && f(p) }
}

func isControl(p *sim.Packet, t wire.ControlType) bool {
	c, ok := p.Control()
	return ok && c == t
}

// cut loses everything in both directions for d.
func cut(p *sim.Pair, d time.Duration) {
	p.Up.Config.Drop, p.Down.Config.Drop = always, always
	p.After(d, func() { p.Up.Config.Drop, p.Down.Config.Drop = nil, nil })
}

func always(*sim.Packet) bool { return true }

var troubles = []trouble{
	{
		name: "single losses", delay: 10 * ms, latency: 200 * ms,
		run: func(p *sim.Pair) { p.Up.Config.Loss = .02 },
		rcv: []trace.Cause{trace.Repaired}, snd: []trace.Cause{trace.Resent},
	},
	{
		name: "bursts", delay: 10 * ms, latency: 300 * ms,
		run: func(p *sim.Pair) { p.Up.Config.Burst = &sim.Burst{GoodToBad: .01, BadToGood: .1, LossBad: 1} },
		rcv: []trace.Cause{trace.Repaired}, snd: []trace.Cause{trace.Resent},
	},
	{
		name: "swaps", delay: 10 * ms, latency: 200 * ms,
		run: func(p *sim.Pair) { p.Up.Config.Reorder, p.Up.Config.ReorderBy = .05, 2 },
		rcv: []trace.Cause{trace.Reordered},
	},
	{
		name: "latency below a round trip", delay: 60 * ms, latency: 80 * ms,
		run: func(p *sim.Pair) { p.Up.Config.Loss = .02 },
		rcv: []trace.Cause{trace.LatencyTooSmall}, snd: []trace.Cause{trace.Resent}, lost: true,
	},
	{
		name: "silence longer than the latency", delay: 10 * ms, latency: 120 * ms,
		run: func(p *sim.Pair) { cut(p, 400*ms) },
		rcv: []trace.Cause{trace.Outage}, snd: []trace.Cause{trace.Resent},
	},
	{
		name: "silence longer than the sender's patience", delay: 10 * ms, latency: 120 * ms,
		run: func(p *sim.Pair) { cut(p, 2500*ms) },
		rcv: []trace.Cause{trace.SenderDropped}, snd: []trace.Cause{trace.SenderDropped}, lost: true,
	},
	{
		name: "requests are lost", delay: 10 * ms, latency: 200 * ms,
		run: func(p *sim.Pair) {
			p.Up.Config.Loss = .02
			p.Down.Config.Drop = func(pkt *sim.Packet) bool { return isControl(pkt, wire.CtrlNAK) }
		},
		rcv: []trace.Cause{trace.NoAnswer}, both: trace.RequestLost, lost: true, unseen: true,
	},
	{
		name: "retransmissions are lost", delay: 10 * ms, latency: 200 * ms,
		run: func(p *sim.Pair) {
			p.Up.Config.Loss = .02
			p.Up.Config.Drop = dataOnly(func(pkt *sim.Packet) bool { return wire.IsRexmit(pkt.Data) })
		},
		rcv: []trace.Cause{trace.NoAnswer}, both: trace.RepairLost, snd: []trace.Cause{trace.Resent}, lost: true,
	},
	{
		name: "only the second retransmission comes through", delay: 20 * ms, latency: 80 * ms,
		run: func(p *sim.Pair) {
			p.Up.Config.Loss = .02
			seen := map[seq.Number]bool{}
			p.Up.Config.Drop = dataOnly(func(pkt *sim.Packet) bool {
				h, err := wire.ParseData(pkt.Data)
				if err != nil || !h.Rexmit || seen[h.Seq] {
					return false
				}
				seen[h.Seq] = true
				return true
			})
		},
		rcv: []trace.Cause{trace.LateRepair}, snd: []trace.Cause{trace.Resent}, lost: true,
	},
	{
		name: "no bandwidth for retransmissions", delay: 10 * ms, latency: 200 * ms,
		change: func(caller, listener *engine.Config) {
			caller.OverheadBW, caller.Records, listener.Records = 5, 1<<16, 1<<16
		},
		run: func(p *sim.Pair) { p.Up.Config.Loss = .3 },
		rcv: []trace.Cause{trace.NoAnswer}, snd: []trace.Cause{trace.Resent, trace.NoBudget}, lost: true,
	},
	{
		name: "the application does not read", delay: 10 * ms, latency: 120 * ms,
		change: func(_, listener *engine.Config) { listener.RcvBufPkts = 64 },
		run: func(p *sim.Pair) {
			p.B.Paused = true
			p.After(3*time.Second, func() { p.B.Paused = false })
		},
		rcv: []trace.Cause{trace.SenderDropped, trace.LateDelivery}, snd: []trace.Cause{trace.SenderDropped}, lost: true,
	},
	{
		name: "another passphrase", delay: 10 * ms, latency: 120 * ms,
		change: func(caller, listener *engine.Config) {
			caller.EnforcedEnc, listener.EnforcedEnc = false, false
			caller.Passphrase, listener.Passphrase = "battery staple", "correct horse"
		},
		run: func(*sim.Pair) {}, rcv: []trace.Cause{trace.Undecryptable}, lost: true, unseen: true,
	},
}

func TestExplanationNamesTheCause(t *testing.T) {
	for _, c := range troubles {
		t.Run(c.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				c.check(t, seed)
			}
		})
	}
}

func (c *trouble) check(t *testing.T, seed uint64) {
	p := sim.NewPair(t, seed).Delay(c.delay)
	caller := engine.DefaultConfig()
	caller.RcvLatency, caller.PeerLatency, caller.Records = c.latency, c.latency, 4096
	listener := caller
	if c.change != nil {
		c.change(&caller, &listener)
	}
	p.Connect(caller, listener)
	p.A.Stream(0, 3*ms, 2500, 1316)
	p.RunFor(time.Second)
	c.run(p)
	p.RunFor(8 * time.Second)
	rcv := trace.Explain(srtcore.TraceOf(p.B.Conn, p.Now))
	snd := trace.Explain(srtcore.TraceOf(p.A.Conn, p.Now))
	missing := len(sim.Flow{From: p.A, To: p.B}.Missing())
	c.wantCauses(t, seed, "receiver", &rcv.Received, c.rcv)
	c.wantCauses(t, seed, "sender", &snd.Sent, c.snd)
	if (rcv.Received.Lost > 0) != c.lost || c.lost != (missing > 0) {
		t.Errorf("seed %d: %d lost by the explanation, %d are missing, want some: %v", seed, rcv.Received.Lost, missing, c.lost)
	}
	if st := p.B.Stats(); int(st.RcvDrop.Packets) != rcv.Received.Lost || int(st.RcvLoss.Packets) != rcv.Received.Missing {
		t.Errorf("seed %d: explained %d lost and %d missing, counted %d and %d", seed,
			rcv.Received.Lost, rcv.Received.Missing, st.RcvDrop.Packets, st.RcvLoss.Packets)
	}
	if c.both != "" {
		both, err := trace.ExplainBoth(srtcore.TraceOf(p.B.Conn, p.Now), srtcore.TraceOf(p.A.Conn, p.Now))
		if err != nil {
			t.Fatal(err)
		}
		c.wantCauses(t, seed, "both ends", &both.Received, []trace.Cause{c.both})
		if both.Received.ByCause[trace.NoAnswer] != 0 {
			t.Errorf("seed %d: both ends do not tell the cause: %v", seed, both.Received.ByCause)
		}
	}
	// What the sender concludes from when things were acknowledged.
	if d := snd.Sent.Lost - missing; !c.unseen && (d < -missing/20-1 || d > missing/20+1) {
		t.Errorf("seed %d: %d lost by the explanation at the sender, %d are missing", seed, snd.Sent.Lost, missing)
	}
	if n := int(p.A.Stats().Retrans.Packets); n != snd.Sent.Resent {
		t.Errorf("seed %d: %d sent again by the explanation, %d counted", seed, snd.Sent.Resent, n)
	}
}

// wantCauses wants the causes to be named, and the first of them for most
// packets.
func (c *trouble) wantCauses(t *testing.T, seed uint64, end string, got *trace.Counts, want []trace.Cause) {
	t.Helper()
	for i, cause := range want {
		if got.ByCause[cause] == 0 {
			t.Errorf("seed %d, %s: %s is not among the causes %v", seed, end, cause, got.ByCause)
		}
		for other, n := range got.ByCause {
			if i == 0 && n > got.ByCause[cause] {
				t.Errorf("seed %d, %s: %s for more packets than %s: %v", seed, end, other, cause, got.ByCause)
			}
		}
	}
}
