package probe

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
)

// patience bounds every wait.
const patience = 20 * time.Second

// far is a probe's far end behind a bad network.
type far struct {
	t       *testing.T
	relay   *impair.Relay
	reports chan *Report
}

func newFar(t *testing.T, up, down impair.Path) *far {
	t.Helper()
	f := &far{t: t, reports: make(chan *Report, 4)}
	addr := port.Addr(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		o := DefaultOptions("srt://" + addr)
		ended <- Listen(ctx, o, func(r *Report, err error) {
			if err != nil {
				t.Error(err)
			}
			f.reports <- r
		})
	}()
	var err error
	if f.relay, err = impair.Start(impair.Config{Target: addr, Seed: 7, Up: up, Down: down}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		f.relay.Close()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("Listen does not end")
		}
	})
	return f
}

func (f *far) options() Options {
	o := DefaultOptions("srt://" + f.relay.Addr())
	o.Send, o.Secs = true, 3
	return o
}

func (f *far) run(o Options) (near, farther *Report) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	near, err := Run(ctx, o)
	if err != nil {
		f.t.Fatal(err)
	}
	select {
	case farther = <-f.reports:
	case <-ctx.Done():
		f.t.Fatal("no report of the far end")
	}
	return near, farther
}

func within(got, want, part float64) bool { return math.Abs(got-want) <= part*want }

func TestProbeMeasuresTheLink(t *testing.T) {
	t.Parallel()
	const oneWay, loss = 25 * time.Millisecond, .03
	f := newFar(t, impair.Path{Delay: oneWay, Loss: loss}, impair.Path{Delay: oneWay})
	near, farther := f.run(f.options())
	for name, r := range map[string]*Report{"sender": near, "receiver": farther} {
		if !within(r.RTT.Median, 50, .2) {
			t.Errorf("%s: round trip %v, want about 50 ms", name, r.RTT)
		}
		if r.Loss < loss/2 || r.Loss > loss*2 {
			t.Errorf("%s: loss %.4f, want about %.2f", name, r.Loss, loss)
		}
		if r.Lost != 0 || r.Damaged != 0 || r.Packets < 1200 {
			t.Errorf("%s: %d packets, %d lost for good, %d damaged", name, r.Packets, r.Lost, r.Damaged)
		}
		if want := int(trace.Latency(r.link()).Milliseconds()); r.Advice.LatencyMs != want || want < 150 || want > 450 {
			t.Errorf("%s: advises a latency of %d ms, the rule says %d", name, r.Advice.LatencyMs, want)
		}
		if a := r.Advice; a.OverheadPercent < defaultOverhead || a.BandwidthMbps < 4.5*1.25 || a.BandwidthMbps > 5.5*1.6 || a.PayloadSize != 0 {
			t.Errorf("%s: %+v", name, a)
		}
		wantTexts(t, name, r)
	}
	if !near.Sender || farther.Sender || !within(near.Mbps, 5.3, .3) {
		t.Errorf("%v, %v, %.2f Mbit/s", near.Sender, farther.Sender, near.Mbps)
	}
	for _, c := range near.Sizes {
		if share := float64(c.Lost) / float64(c.Sent); share > 3*loss+.05 {
			t.Errorf("%+v", c)
		}
	}
}

func wantTexts(t *testing.T, name string, r *Report) {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Round trip", "latency=", "Bandwidth:"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: no %q in\n%s", name, want, b.String())
		}
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

func TestProbeSeesThatLargePacketsVanish(t *testing.T) {
	t.Parallel()
	f := newFar(t, impair.Path{Delay: 5 * time.Millisecond, MaxSize: 1000}, impair.Path{Delay: 5 * time.Millisecond})
	o := f.options()
	o.Secs, o.Rate = 2, 1_000_000
	near, farther := f.run(o)
	for name, r := range map[string]*Report{"sender": near, "receiver": farther} {
		if r.Advice.PayloadSize != 4*tsSize || len(r.Advice.Texts) == 0 || !strings.Contains(r.Advice.Texts[0], "Large packets vanish") {
			t.Errorf("%s: %+v, sizes %+v", name, r.Advice, r.Sizes)
		}
	}
}

// Twice of what the link carries, in a queue and without one: both ends say about
// how much it carries, and nothing about a latency.
func TestProbeSeesThatTheLinkIsTooSlow(t *testing.T) {
	for name, police := range map[string]bool{"queue": false, "police": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFar(t, impair.Path{Delay: 10 * time.Millisecond, Rate: &impair.Rate{Bits: 2_000_000, Police: police}}, impair.Path{Delay: 10 * time.Millisecond})
			o := f.options()
			o.URL += "?latency=300"
			o.Secs, o.Rate = 4, 4_000_000
			near, farther := f.run(o)
			for name, r := range map[string]*Report{"sender": near, "receiver": farther} {
				a := r.Advice
				if a.MaxMbps < .6 || a.MaxMbps > 2 || a.LatencyMs != 0 || a.BandwidthMbps != 0 || !strings.Contains(a.Texts[0], "does not carry") {
					t.Errorf("%s: %+v; delivered %.2f Mbit/s", name, a, r.DeliveredMbps)
				}
			}
		})
	}
}

// Losses that come together must not be taken for retransmissions that are lost.
func TestProbeOfABurstyLink(t *testing.T) {
	t.Parallel()
	f := newFar(t, impair.Path{Delay: 20 * time.Millisecond, Burst: &impair.Burst{ToBad: .004, ToGood: .2, LossBad: 1}}, impair.Path{Delay: 20 * time.Millisecond})
	near, farther := f.run(f.options())
	for name, r := range map[string]*Report{"sender": near, "receiver": farther} {
		if r.LongestGap < 5 || r.LossAgain > .6 || r.Advice.Repeats < 2 || r.Advice.Repeats > 8 || r.Lost != 0 {
			t.Errorf("%s: gap of %d, %.2f lost again, %+v", name, r.LongestGap, r.LossAgain, r.Advice)
		}
	}
}

// A probe that is interrupted shows what it has.
func TestInterruptedProbeReports(t *testing.T) {
	t.Parallel()
	f := newFar(t, impair.Path{}, impair.Path{})
	o := f.options()
	o.Secs = maxSecs
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	begin := time.Now()
	near, err := Run(ctx, o)
	if err != nil || near.Packets < 50 || near.Advice.LatencyMs == 0 {
		t.Fatalf("%+v, %v", near, err)
	}
	if d := time.Since(begin); d > patience {
		t.Errorf("it took %v", d)
	}
}

func TestProbeOfASilentPeer(t *testing.T) {
	t.Parallel()
	f := newFar(t, impair.Path{}, impair.Path{})
	o := f.options()
	o.Send, o.Secs = false, 2
	near, _ := f.run(o)
	if len(near.Advice.Texts) != 1 || !strings.Contains(near.Advice.Texts[0], "--send") {
		t.Errorf("%+v", near.Advice)
	}
}

func TestProbeRefusesWhatMakesNoSense(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Secs = 1 }, "--secs 1 is refused: allowed 2..30"},
		{func(o *Options) { o.Secs = 3600 }, "allowed 2..30"},
		{func(o *Options) { o.Secs = math.NaN() }, "allowed 2..30"},
		{func(o *Options) { o.Rate = 5 }, "--rate 5 bits/s is refused"},
		{func(o *Options) { o.MaxSize = 1500 }, "--max-size 1500 is refused: allowed 188..1456"},
		{func(o *Options) { o.URL = "udp://h:1" }, "srt://"},
		{func(o *Options) { o.URL = "srt://h:1?latncy=4" }, "latncy"},
	} {
		o := DefaultOptions("srt://127.0.0.1:9")
		c.change(&o)
		if _, err := Run(context.Background(), o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q in it", err, c.want)
		}
	}
	if err := Listen(context.Background(), DefaultOptions("srt://127.0.0.1:9?mode=caller"), nil); err == nil || !strings.Contains(err.Error(), "listener") {
		t.Error(err)
	}
}

// A clock that runs 80 ppm fast, seen through 5 ms of jitter.
func TestDriftIsSeenThroughJitter(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		dice := rand.New(rand.NewPCG(seed, 1))
		for _, ppm := range []float64{80, -80, 0} {
			var rs []srtcore.TraceRecord
			for at := time.Duration(0); at < 10*time.Second; at += 10 * time.Millisecond {
				stamp := uint32(at.Seconds()*(1e6+ppm)) - 1_000_000 // wraps on the way
				late := time.Duration(dice.Int64N(int64(5 * time.Millisecond)))
				rs = append(rs, srtcore.TraceRecord{At: at + late, Kind: srtcore.TraceACK, Stamp: max(stamp, 1)})
			}
			got, uncertain := drift(oneWay(rs))
			if math.Abs(got-ppm) > 4*uncertain || uncertain > 15 || uncertain == 0 {
				t.Errorf("seed %d: %.1f ppm +- %.1f, want %.0f", seed, got, uncertain, ppm)
			}
		}
	}
	if j := jitter(oneWay([]srtcore.TraceRecord{{Kind: srtcore.TraceACK, Stamp: 1}})); j != 0 {
		t.Errorf("a jitter of %v from one packet", j)
	}
}

func TestAdvice(t *testing.T) {
	base := Report{hasTraffic: true, Seconds: 10, Packets: 5000, Resent: 50, Mbps: 5, Loss: .01, again: .01, RTT: trace.Spread{Samples: 100, Min: 98, Median: 99, P95: 100, Max: 120}}
	for _, c := range []struct {
		name   string
		change func(*Report)
		want   func(Advice) bool
		text   string
	}{
		{"as the rule says", func(*Report) {}, func(a Advice) bool { return a.LatencyMs == 300 && a.Repeats == 2 && a.OverheadPercent == 25 }, "latency=300"},
		{"jitter is added", func(r *Report) { r.JitterMs = 35 }, func(a Advice) bool { return a.LatencyMs == 340 }, "35 ms for jitter"},
		{"a silence is bridged", func(r *Report) { r.SilenceMs = 400 }, func(a Advice) bool { return a.LatencyMs == 700 }, "longest silence"},
		{"much loss", func(r *Report) { r.Loss, r.again, r.Resent = .2, .2, 1250 }, func(a Advice) bool { return a.OverheadPercent == 50 }, "oheadbw=50"},
		{"no loss, short way", func(r *Report) { r.Loss = 0; r.RTT.P95 = 5 }, func(a Advice) bool { return a.LatencyMs == 120 }, "less than 120 ms"},
		{"a fast stream over a long way", func(r *Report) { r.Packets, r.RTT.P95 = 900_000, 300 }, func(a Advice) bool { return a.FlowPackets > 90_000 }, "fc="},
		{"the queue fills", func(r *Report) { r.QueueMs = 200 }, func(Advice) bool { return true }, "fill a queue"},
		{"clock", func(r *Report) { r.Drift, r.DriftError = 60, 5 }, func(Advice) bool { return true }, "60 ppm fast"},
		{"broken", func(r *Report) { r.Loss, r.again = .7, .7 }, func(a Advice) bool { return a.Repeats == trace.MaxRepeats }, "no latency"},
	} {
		r := base
		c.change(&r)
		r.advise()
		if text := strings.Join(r.Advice.Texts, "\n"); !c.want(r.Advice) || !strings.Contains(text, c.text) {
			t.Errorf("%s: %+v", c.name, r.Advice)
		}
	}
}

func TestTallyFindsWhatIsMissingAndWhatIsWrong(t *testing.T) {
	s := newStream(7 * tsSize)
	var y tally
	lost := map[int]int{}
	for i := range 100 {
		m := s.message()
		if i > 3 && i%5 == 0 && i < 95 {
			lost[len(m)]++
			continue
		}
		y.take(m)
	}
	for _, c := range y.sizeClasses() {
		if c.Lost != lost[c.Bytes] {
			t.Errorf("%+v, want %d lost", c, lost[c.Bytes])
		}
	}
	if y.damaged != 0 {
		t.Errorf("%d damaged", y.damaged)
	}
	m := s.message()
	y.take([]byte("no test stream"))
	m[len(m)-1] ^= 1
	y.take(m)
	m[len(m)-1] ^= 1
	y.take(m)
	y.take(m)
	if y.damaged != 2 {
		t.Errorf("%d damaged, want the changed one and the second copy", y.damaged)
	}
}
