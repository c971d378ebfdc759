package probe

import (
	"maps"
	"slices"
	"time"

	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
)

// Report is what a probe has found.
type Report struct {
	Connection string  `json:"connection"`
	Sender     bool    `json:"sender"` // this side sent
	Seconds    float64 `json:"seconds"`
	Packets    int     `json:"packets"`
	// Mbps is what went over the link in that direction, headers and
	// retransmissions included; TargetMbps what a sending probe was to send.
	Mbps       float64 `json:"mbps"`
	TargetMbps float64 `json:"targetMbps,omitempty"`
	// DeliveredMbps is what of it was delivered, each packet counted once, headers
	// included.
	DeliveredMbps float64      `json:"deliveredMbps"`
	LatencyMs     float64      `json:"latencyMs"` // of the probe itself
	RTT           trace.Spread `json:"rttMs"`
	// JitterMs is by how much the delay in the direction of this side varies:
	// what 95 % stay below, above the shortest.
	JitterMs float64 `json:"jitterMs"`
	// Loss is the share lost at the first sending. The sender does not know what
	// was only out of order.
	Loss       float64 `json:"loss"`
	LossAgain  float64 `json:"lossAgain,omitempty"` // of retransmissions; 0: too few to tell
	Reordered  int     `json:"reordered"`
	Resent     int     `json:"resent"`
	Lost       int     `json:"lost"` // for good
	LongestGap int     `json:"longestGap"`
	SilenceMs  float64 `json:"silenceMs"` // the longest before a gap
	// QueueMs is by how much the round trip has grown from the first quarter of
	// the probe to the last.
	QueueMs float64 `json:"queueMs"`
	// Drift is how much faster the peer's clock runs, in millionths; DriftError is
	// the uncertainty.
	Drift      float64     `json:"driftPPM"`
	DriftError float64     `json:"driftErrorPPM"`
	Sizes      []SizeClass `json:"sizes,omitempty"`
	Damaged    int         `json:"damaged,omitempty"` // messages of the test stream with a wrong content

	Advice Advice `json:"advice"`

	hasTraffic bool
	again      float64 // LossAgain, weighed

	// What a sending probe has handed in.
	offered     int
	offeredMbps float64
}

const (
	// fewLosses are too few to tell how often retransmissions are lost.
	fewLosses = 20
	// priorLosses is how many losses count as seen beforehand whose
	// retransmissions were lost no more often than anything: a few that were lost
	// twice by chance must not double the advice.
	priorLosses = 50
)

func measure(t srtcore.Trace, s srtcore.Stats, sender bool) *Report {
	x := trace.Explain(t)
	r := &Report{
		Connection: x.Connection, Sender: sender, Seconds: float64(s.MsTimeStamp) / 1000, RTT: x.RTT,
	}
	c, bytes, delivered := x.Received, s.ByteRecvTotal, float64(s.ByteRecvUniqueTotal)
	if sender {
		c, bytes, r.LatencyMs = x.Sent, s.ByteSentTotal, x.SndLatencyMs
		r.Packets, r.Resent, r.Lost = int(s.PktSentUniqueTotal), int(s.PktRetransTotal), c.Lost
		delivered = float64(s.ByteSentUniqueTotal) * float64(acknowledged(t.Records)-r.Lost) / float64(max(r.Packets, 1))
	} else {
		r.LatencyMs = x.RcvLatencyMs
		r.Packets, r.Resent, r.Lost = int(s.PktRecvUniqueTotal), int(s.PktRcvRetrans), int(s.PktRcvDropTotal)
	}
	r.hasTraffic = r.Packets > 0
	r.Loss, r.Reordered, r.LongestGap, r.SilenceMs = c.Loss(), c.Reordered, c.LongestGap, c.LongestMs
	lost, twice := float64(c.Missing-c.Reordered), float64(c.AskedAgain)
	if lost >= fewLosses {
		r.LossAgain = min(twice/lost, 1)
	}
	r.again = min((twice+priorLosses*r.Loss)/(lost+priorLosses), 1)
	if d := active(t.Records); d > 0 {
		r.Seconds = d.Seconds()
	}
	if r.Seconds > 0 {
		r.Mbps = float64(bytes) * 8 / 1e6 / r.Seconds
		r.DeliveredMbps = max(delivered, 0) * 8 / 1e6 / r.Seconds
		if sender && t.PeerRate > 0 {
			// What the peer gave up can only be inferred, and libsrt gives up more than
			// shows; no more was delivered than came.
			r.DeliveredMbps = min(r.DeliveredMbps, float64(t.PeerRate)*8/1e6)
		}
	}
	delays := oneWay(t.Records)
	r.JitterMs = jitter(delays)
	r.Drift, r.DriftError = drift(delays)
	r.QueueMs = growth(t.Records)
	return r
}

// acknowledged is how many packets the peer has acknowledged, those among them
// that were given up.
func acknowledged(rs []srtcore.TraceRecord) int {
	var first, next seq.Number
	for _, r := range rs {
		switch {
		case r.Kind == srtcore.TraceConnected:
			first, next = r.Seq, r.Seq
		case r.Kind == srtcore.TraceACK && !r.Sent && next.Less(r.Seq):
			next = r.Seq
		}
	}
	return next.Sub(first)
}

// active is how long data went over the link. A recorder that has forgotten the
// beginning does not know.
func active(rs []srtcore.TraceRecord) time.Duration {
	var last time.Duration
	for _, r := range rs {
		switch r.Kind {
		case srtcore.TraceReceived, srtcore.TraceFilled, srtcore.TraceSent, srtcore.TraceResent:
			last = max(last, r.At)
		}
	}
	i := slices.IndexFunc(rs, func(r srtcore.TraceRecord) bool { return r.Kind == srtcore.TraceConnected })
	if i < 0 {
		return 0
	}
	return last - rs[i].At
}

// delay is one packet's: when it came, and how long it took, less a constant
// that nobody knows.
type delay struct{ at, took time.Duration }

// oneWay returns the delays of packets from the peer whose time stamps are known
// and are those of the moment of sending.
func oneWay(rs []srtcore.TraceRecord) []delay {
	var out []delay
	var last uint32
	var stamp time.Duration
	for _, r := range rs {
		switch r.Kind {
		case srtcore.TraceReceived, srtcore.TraceACK, srtcore.TraceACKACK:
		default:
			continue
		}
		if r.Sent || r.Stamp == 0 {
			continue
		}
		if len(out) > 0 {
			stamp += time.Duration(int32(r.Stamp-last)) * time.Microsecond
		}
		last = r.Stamp
		out = append(out, delay{r.At, r.At - stamp})
	}
	return out
}

func jitter(ds []delay) float64 {
	if len(ds) < fewLosses {
		return 0
	}
	took := make([]time.Duration, len(ds))
	for i, d := range ds {
		took[i] = d.took
	}
	slices.Sort(took)
	return inMs(took[len(took)*95/100] - took[0])
}

func inMs(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// growth returns by how much the median round trip of the last quarter exceeds
// that of the first.
func growth(rs []srtcore.TraceRecord) float64 {
	var rtts []time.Duration
	for _, r := range rs {
		if (r.Kind == srtcore.TraceACKACK || r.Kind == srtcore.TraceACK) && !r.Sent && r.RTT > 0 {
			rtts = append(rtts, r.RTT)
		}
	}
	q := len(rtts) / 4
	if q < 5 {
		return 0
	}
	median := func(v []time.Duration) time.Duration { return slices.Sorted(slices.Values(v))[len(v)/2] }
	return inMs(median(rtts[len(rtts)-q:]) - median(rtts[:q]))
}

// sentSizes says of each size how many packets were asked for by the peer. The
// first message had the connection's initial number.
func sentSizes(t srtcore.Trace, sizes []int) []SizeClass {
	i := slices.IndexFunc(t.Records, func(r srtcore.TraceRecord) bool { return r.Kind == srtcore.TraceConnected })
	if i < 0 {
		return nil
	}
	first := t.Records[i].Seq
	sent, lost, seen := map[int]int{}, map[int]int{}, map[int]bool{}
	for _, r := range t.Records {
		own := r.Kind == srtcore.TraceSent
		if !own && (r.Kind != srtcore.TraceNAK || r.Sent) {
			continue
		}
		from := r.Seq.Sub(first)
		for n := max(from, 0); n < from+r.Count; n++ {
			switch {
			case own:
				sent[sizes[n%len(sizes)]]++
			case !seen[n]:
				seen[n] = true
				lost[sizes[n%len(sizes)]]++
			}
		}
	}
	return classes(sent, func(size int) int { return lost[size] })
}

func classes(sent map[int]int, lost func(size int) int) []SizeClass {
	var out []SizeClass
	for _, size := range slices.Sorted(maps.Keys(sent)) {
		out = append(out, SizeClass{size, sent[size], lost(size)})
	}
	return out
}
