package probe

import (
	"fmt"
	"math"
	"time"

	"github.com/weirline/weirline/sidecar/trace"
)

// Advice is what to set. Zero: nothing to say.
type Advice struct {
	LatencyMs       int     `json:"latencyMs,omitempty"`
	Repeats         int     `json:"repeats,omitempty"` // retransmissions that this latency leaves time for
	OverheadPercent int     `json:"overheadPercent,omitempty"`
	BandwidthMbps   float64 `json:"bandwidthMbps,omitempty"`
	// PayloadSize is the largest message that gets through, if large ones do not.
	PayloadSize int `json:"payloadSize,omitempty"`
	// FlowPackets is the window that the stream needs with this latency, if it is
	// more than the default.
	FlowPackets int `json:"flowPackets,omitempty"`
	// MaxMbps is the most to be sent, if the link did not carry the stream.
	MaxMbps float64  `json:"maxMbps,omitempty"`
	Texts   []string `json:"texts"`
}

const (
	// realSilence is longer than the distance between packets ever is.
	realSilence = 50 * time.Millisecond
	// defaultOverhead is srtcore's, and libsrt's.
	defaultOverhead = 25
	// spare is how many times the expected retransmissions there must be room for:
	// losses come together.
	spare = 2
	// defaultWindow is what srtcore's receive buffer holds, libsrt's too.
	defaultWindow = 8192
	// someDrift is noticeable: at 5 ppm a minute drifts by 0.3 ms.
	someDrift = 5.0
	// roughDrift, in ppm, is more uncertainty than is worth telling.
	roughDrift = 300.0
	// tooMuch is the share given up for good that a link which carries the stream
	// does not have, with the latency of a probe.
	tooMuch = .01
	// mostlyTarget is the share of the intended rate that counts as reached.
	mostlyTarget = .9
	// trackedDrift is what SRT's drift tracer follows: 5 ms in ten seconds.
	trackedDrift = 500.0
)

func fromMs(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// link is what the rule for the latency needs.
func (r *Report) link() trace.Link {
	l := trace.Link{
		RTT: fromMs(r.RTT.P95), Jitter: fromMs(r.JitterMs), Loss: r.Loss, Again: r.again,
	}
	if s := fromMs(r.SilenceMs); s > realSilence {
		l.Burst = s
	}
	return l
}

func (r *Report) advise() {
	a := &r.Advice
	a.Texts = []string{}
	if !r.hasTraffic {
		a.say("Nothing came in %.0f s, so nothing could be measured: this peer does not send. Use --send to send it a test stream.", r.Seconds)
		return
	}
	switch {
	case r.adviseSize(), r.adviseRate():
	default:
		r.adviseLatency()
		r.adviseBandwidth()
		r.adviseQueue()
	}
	if r.TargetMbps > 0 && r.offeredMbps < mostlyTarget*r.TargetMbps {
		a.say("Only %.2f of %.2f Mbit/s were sent: this machine was too busy, or the link took no more.", r.offeredMbps, r.TargetMbps)
	}
	r.adviseClock()
	if r.Damaged > 0 {
		a.say("%d messages of the test stream came changed, twice or out of order: something between the ends is broken.", r.Damaged)
	}
}

func (a *Advice) say(format string, args ...any) {
	a.Texts = append(a.Texts, fmt.Sprintf(format, args...))
}

func (r *Report) adviseLatency() {
	a := &r.Advice
	if r.RTT.Samples == 0 {
		a.say("The round trip was not measured: too little went over the link.")
		return
	}
	l := r.link()
	a.Repeats, a.LatencyMs = trace.Repeats(l), int(trace.Latency(l).Milliseconds())
	why := "nothing was lost, but one retransmission should have its time"
	if r.Loss > 0 {
		why = fmt.Sprintf("with %.2f %% lost, a packet may have to be sent again %s until no more than one in a million is missing", 100*r.Loss, times(a.Repeats))
	}
	text := fmt.Sprintf("latency=%d: %s; that takes %d round trips of %.0f ms, and %.0f ms for jitter", a.LatencyMs, why, a.Repeats+1, r.RTT.P95, r.JitterMs)
	if l.Burst > 0 {
		text += fmt.Sprintf(", and %.0f ms to bridge the longest silence", r.SilenceMs)
	}
	if trace.Latency(l) == trace.LeastLatency {
		text += "; less than 120 ms is not worth the risk"
	}
	a.say("%s.", text)
	if a.Repeats >= trace.MaxRepeats {
		a.say("So much is lost that no latency makes this link good: lower the bit rate or change the link.")
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// adviseBandwidth: each packet is sent 1 / (1 - p) times on average.
func (r *Report) adviseBandwidth() {
	a := &r.Advice
	rate := r.Mbps
	if n := r.Packets + r.Resent; n > 0 {
		rate *= float64(r.Packets) / float64(n) // each packet once
	}
	expected := 100 * r.Loss / max(1-r.again, .01)
	a.OverheadPercent = min(max(int(math.Ceil(spare*expected)), defaultOverhead), 100)
	a.BandwidthMbps = math.Round(rate*float64(100+a.OverheadPercent)) / 100
	text := "the default"
	if a.OverheadPercent > defaultOverhead {
		text = fmt.Sprintf("oheadbw=%d", a.OverheadPercent)
	}
	a.say("Bandwidth: %.2f Mbit/s for a stream of %.2f, with %d %% for retransmissions (%s); %.1f %% were needed now.",
		a.BandwidthMbps, rate, a.OverheadPercent, text, 100*float64(r.Resent)/float64(max(r.Packets, 1)))
	if r.Seconds > 0 && a.LatencyMs > 0 {
		perSecond := float64(r.Packets+r.Lost) / r.Seconds
		need := int(perSecond * (float64(a.LatencyMs) + 2*r.RTT.P95) / 1000 * 1.5)
		if need > defaultWindow {
			a.FlowPackets = need
			a.say("fc=%d and rcvbuf=%d at the receiver: the latency's worth of packets must fit.", need, need*1472)
		}
	}
}

const (
	// vanish and pass are shares of lost packets: of those that are too large, and
	// of those that are not.
	vanish, pass = .9, .5
	// fewPackets of one size say nothing.
	fewPackets = 10
	overhead   = 44 // bytes of IP, UDP and SRT header
)

// adviseSize tells packets that are too large from packets that are lost.
func (r *Report) adviseSize() bool {
	passes, vanishes := 0, 0
	for _, c := range r.Sizes {
		if c.Sent < fewPackets {
			continue
		}
		share := float64(c.Lost) / float64(c.Sent)
		switch {
		case share <= pass && vanishes == 0:
			passes = c.Bytes
		case share >= vanish && vanishes == 0 && passes > 0:
			vanishes = c.Bytes
		}
	}
	if vanishes == 0 {
		return false
	}
	a := &r.Advice
	a.PayloadSize = passes
	a.say("Large packets vanish: messages of %d bytes (%d with headers) get through, those of %d (%d) do not. A tunnel or a link with a small MTU "+
		"is in between. Set payloadsize=%d, or find out more with --max-size between the two. What else was measured tells little as long as that is so.",
		passes, passes+overhead, vanishes, vanishes+overhead, passes)
	return true
}

// adviseRate finds that more was sent than the link carries. Then neither loss
// nor round trip are those of the link, but of its overflowing queue.
func (r *Report) adviseRate() bool {
	all := r.Packets + r.Lost
	if r.Sender {
		all = max(r.offered, r.Packets)
	}
	if float64(r.Lost) < tooMuch*float64(all) {
		return false
	}
	a := &r.Advice
	a.MaxMbps = math.Floor(10*r.DeliveredMbps*100/(100+defaultOverhead)) / 10
	stream := ""
	if r.TargetMbps > 0 {
		stream = fmt.Sprintf(" of %.2f Mbit/s", r.TargetMbps)
	}
	a.say("The link does not carry the stream%s: %d of %d packets were given up as too late though there was %.0f ms for them, and %.2f Mbit/s arrived. "+
		"Send at most %.1f Mbit/s, which leaves %d %% for retransmissions, and probe again at that rate (--rate %.1fM): what loss and round trip "+
		"were now is no measure for the latency.", stream, r.Lost, all, r.LatencyMs, r.DeliveredMbps, a.MaxMbps, defaultOverhead, a.MaxMbps)
	return true
}

// adviseQueue: a round trip that grows is a queue that fills.
func (r *Report) adviseQueue() {
	if r.QueueMs > 20 && r.QueueMs > r.RTT.Min/2 {
		r.Advice.say("The round trip grew by %.0f ms while the probe ran: %.2f Mbit/s fill a queue somewhere, it is more than the link carries.", r.QueueMs, r.Mbps)
	}
}

func (r *Report) adviseClock() {
	if r.DriftError == 0 || math.Abs(r.Drift) < max(3*r.DriftError, someDrift) {
		return
	}
	word := "fast"
	if r.Drift < 0 {
		word = "slow"
	}
	text := "SRT's drift tracer follows that"
	if math.Abs(r.Drift) > trackedDrift {
		text = "that is more than SRT's drift tracer follows: synchronise it"
	}
	r.Advice.say("The peer's clock runs %.0f ppm %s (+-%.0f): %.0f ms an hour; %s.", math.Abs(r.Drift), word, 3*r.DriftError, math.Abs(r.Drift)*3.6, text)
}
