package trace

import (
	"fmt"
	"slices"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
)

// Cause is why packets were missing, or why they came all the same.
type Cause string

// Causes of gaps among received packets.
const (
	// Reordered: the network had swapped them; nothing was lost.
	Reordered Cause = "reordered"
	// Repaired: lost, and there in time by retransmission.
	Repaired Cause = "repaired"
	// Outage: nothing came for longer than the latency. What came afterwards was
	// played late, or was lost.
	Outage Cause = "outage"
	// LatencyTooSmall: the time was over before a retransmission could come.
	LatencyTooSmall Cause = "latency-too-small"
	// LateRepair: asked for in time, but the retransmission came too late: an
	// earlier one was lost, or the sender took its time.
	LateRepair Cause = "late-retransmission"
	// NoAnswer: asked for in time, but no retransmission came: it, or the request,
	// was lost as well, or the sender did not send it.
	NoAnswer Cause = "no-answer"
	// SenderDropped: the sender no longer had them.
	SenderDropped Cause = "sender-dropped"
	// NoRoom: they came, but the receive buffer was full.
	NoRoom Cause = "no-room"
	// Undecryptable: they came, but with a key that is not known here.
	Undecryptable Cause = "undecryptable"
	// LateDelivery: they were there, but handed over late.
	LateDelivery Cause = "late-delivery"
	// Open: when the trace ends, they may still come.
	Open Cause = "open"
)

// Causes of what happened to sent packets.
const (
	// Resent: the peer asked for them and they were sent again.
	Resent Cause = "resent"
	// NotResent: the peer asked for them and they were not sent again.
	NotResent Cause = "not-resent"
	// NoBudget: the bandwidth allowed for retransmissions was used up.
	NoBudget Cause = "no-budget"
)

// Gap is one run of packets that did not simply come or go.
type Gap struct {
	Sent    bool       `json:"sent"` // among the packets that this side sent
	First   seq.Number `json:"first"`
	Last    seq.Number `json:"last"`
	Packets int        `json:"packets"`
	Found   time.Time  `json:"found"` // when it showed; of sent ones, when the peer said so
	Cause   Cause      `json:"cause"`
	Lost    int        `json:"lost"` // packets that the receiver goes without, as far as known here
	Text    string     `json:"text"` // all of it in a sentence or two

	// Of received packets.
	SilenceMs float64 `json:"silenceMs,omitempty"` // since the packet before it
	LeftMs    float64 `json:"leftMs,omitempty"`    // until the packet behind it was to be played
	Reordered int     `json:"reordered,omitempty"` // came by themselves
	Repaired  int     `json:"repaired,omitempty"`  // came as retransmissions, in time
	TooLate   int     `json:"tooLate,omitempty"`   // came after they were given up
	LateMs    float64 `json:"lateMs,omitempty"`    // the worst of these
	RepairMs  float64 `json:"repairMs,omitempty"`  // from Found to the last that filled it
	SpareMs   float64 `json:"spareMs,omitempty"`   // the least time that was left then

	Asked  int `json:"asked,omitempty"`  // how often
	Resent int `json:"resent,omitempty"` // packets sent again
}

// Spread is how round-trip times were distributed, in milliseconds.
type Spread struct {
	Samples int     `json:"samples"`
	Min     float64 `json:"min"`
	Median  float64 `json:"median"`
	P95     float64 `json:"p95"`
	Max     float64 `json:"max"`
}

func spreadOf(samples []time.Duration) Spread {
	n := len(samples)
	if n == 0 {
		return Spread{}
	}
	slices.Sort(samples)
	at := func(q float64) float64 { return inMs(samples[min(int(q*float64(n)), n-1)]) }
	return Spread{n, at(0), at(.5), at(.95), at(1)}
}

func inMs(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Counts adds up one direction.
type Counts struct {
	Packets    int           `json:"packets"`    // different ones
	Missing    int           `json:"missing"`    // received: found missing; sent: asked for by the peer
	Reordered  int           `json:"reordered"`  // of these, swapped only
	Resent     int           `json:"resent"`     // retransmissions that came, or were sent
	AskedAgain int           `json:"askedAgain"` // packets that one retransmission has not repaired: asked for, or sent, once more
	Lost       int           `json:"lost"`       // never handed over, as far as known here
	Copies     int           `json:"copies"`     // that were there already
	Gaps       int           `json:"gaps"`
	LongestGap int           `json:"longestGap"` // packets
	LongestMs  float64       `json:"longestMs"`  // the longest silence before a gap
	ByCause    map[Cause]int `json:"byCause"`    // packets
}

// Loss is the share of packets that the network lost, the first time.
func (c *Counts) Loss() float64 {
	all := c.Packets + c.Lost
	if all == 0 {
		return 0
	}
	return float64(max(c.Missing-c.Reordered, 0)) / float64(all)
}

// Report explains a trace.
type Report struct {
	Connection   string    `json:"connection"`
	From         time.Time `json:"from"`
	Until        time.Time `json:"until"`
	Ended        string    `json:"ended,omitempty"`
	GivenUp      uint64    `json:"recordsGivenUp"` // before the first
	RcvLatencyMs float64   `json:"rcvLatencyMs"`
	SndLatencyMs float64   `json:"peerLatencyMs"`
	RTT          Spread    `json:"rttMs"`
	Received     Counts    `json:"received"`
	Sent         Counts    `json:"sent"`
	// Gaps are in the order in which they showed; Omitted is how many were left
	// out, those without loss first.
	Gaps    []Gap    `json:"gaps"`
	Omitted int      `json:"omitted,omitempty"`
	Advice  []string `json:"advice,omitempty"`
}

// maxGaps bounds a report.
const maxGaps = 2000

func connectionName(t *srtcore.Trace) string {
	role := "accepted from"
	if t.Caller {
		role = "called"
	}
	name := fmt.Sprintf("%v %s %v", t.Local, role, t.Remote)
	if t.StreamID != "" {
		name += fmt.Sprintf(", stream id %q", t.StreamID)
	}
	return name
}

// Explain says of each gap in t what happened and why.
func Explain(t srtcore.Trace) Report { return explain(t, nil) }

// explain is Explain; peer is what the sender has noted, if that is known.
func explain(t srtcore.Trace, peer *sent) Report {
	r := Report{
		Connection: connectionName(&t), From: t.Began, Until: t.Taken, Ended: t.Ended, GivenUp: t.Lost,
		RcvLatencyMs: inMs(t.RcvLatency), SndLatencyMs: inMs(t.PeerLatency),
		RTT: spreadOf(roundTrips(t.Records)),
	}
	rcv, snd := newReceived(&t), newSent(&t)
	rcv.peer = peer
	for _, rec := range t.Records {
		rcv.take(rec)
		snd.take(rec)
	}
	r.Received, r.Sent = rcv.finish(&r), snd.finish(&r)
	slices.SortStableFunc(r.Gaps, func(a, b Gap) int { return a.Found.Compare(b.Found) })
	r.bound()
	r.Advice = advise(&t, &r)
	return r
}

// roundTrips are the samples of this side, or what the peer said of its own.
func roundTrips(rs []srtcore.TraceRecord) []time.Duration {
	var own, peers []time.Duration
	for _, rec := range rs {
		switch {
		case rec.Kind == srtcore.TraceACKACK && !rec.Sent:
			own = append(own, rec.RTT)
		case rec.Kind == srtcore.TraceACK && !rec.Sent && rec.RTT != unmeasured:
			peers = append(peers, rec.RTT)
		}
	}
	if len(own) > 0 {
		return own
	}
	return peers
}

// unmeasured is what an ACK says before there is a sample (draft section 4.10).
const unmeasured = 100 * time.Millisecond

// bound leaves gaps out that did no harm, the oldest first.
func (r *Report) bound() {
	over := len(r.Gaps) - maxGaps
	if over <= 0 {
		return
	}
	kept := r.Gaps[:0]
	for i, g := range r.Gaps {
		if over > 0 && (g.Lost == 0 || len(r.Gaps)-i <= over) {
			over--
			r.Omitted++
			continue
		}
		kept = append(kept, g)
	}
	r.Gaps = kept
}
