package profile

import "fmt"

// The peers of the lab. Raw is the floor: UDP without a protocol.
const (
	Weirline = "weirline"
	Libsrt   = "libsrt"        // each caller its own UDP socket, libsrt's default
	Shared   = "libsrt-shared" // all callers on one UDP socket
	Gosrt    = "gosrt"
	RawMmsg  = "raw-sendmmsg"
	RawGSO   = "raw-gso" // UDP_SEGMENT across flows, UDP_GRO
)

// Lab is what the lab needs to know about a profile beyond its load.
type Lab struct {
	Peers []string // beside weirline
	Quick Runs     // of make lab-quick; no rounds: not part of it
	Full  Runs     // of make lab
	Net   *Net     // nil: the loopback as it is
	Bars  []Bar
	// Streams and Mbps repeat the load as numbers, for the raw floor and for the
	// check of the source. No Mbps: as fast as it goes.
	Streams int
	Mbps    float64
	// OursOnly goes to weirline alone: switches the others do not have.
	OursOnly []string
	// LibsrtOnly goes to both libsrts behind everything else: what they cannot do
	// without. Known is why, for the report.
	LibsrtOnly []string
	Known      string
}

// libsrtDrops is why libsrt keeps TLPKTDROP on where the others have it off.
const libsrtDrops = "libsrt has TLPKTDROP on: without it every TSBPD thread of libsrt 1.5.1 that meets a gap past its play time spins, takes the cores, and the run never ends (seen with a debugger in CUDT::tsbpd; a gap is the rule here, its receiver falls behind on few cores). Its losses are shown, and CPU is compared per delivered Gbit"

// Runs is how often and how long.
type Runs struct {
	Rounds int
	Secs   float64
}

// Net is what a bad network does to each direction.
type Net struct {
	Name              string
	DelayMs, JitterMs int
	Loss              float64
	Reorder           bool // jitter overtakes
}

// LatencyMs is four round trips, with the jitter taken in full.
func (n Net) LatencyMs() int { return 4 * 2 * (n.DelayMs + n.JitterMs) }

// The bad networks.
var (
	Light   = Net{Name: "light", DelayMs: 20, JitterMs: 5, Loss: .001}
	Strong  = Net{Name: "strong", DelayMs: 80, JitterMs: 20, Loss: .01}
	Reorder = Net{Name: "reorder", DelayMs: 20, JitterMs: 5, Loss: .001, Reorder: true}
)

// Bar is one line that weirline must reach, as data: a figure, of whom, and how
// much.
type Bar struct {
	Figure Figure
	Of     string // the peer it is a share of; empty: absolute
	Limit  float64
}

// Figure is what a Bar is about.
type Figure string

// The figures. AtLeast tells which of them must not be lower.
const (
	CPU       Figure = "CPU of both processes"
	CPUGbit   Figure = "CPU of both processes per delivered Gbit"
	RSS       Figure = "peak RSS of both processes"
	Threads   Figure = "threads of a process"
	P99       Figure = "p99 delay over the latency, ms"
	Complete  Figure = "share of runs with every message delivered and verified"
	Rate      Figure = "delivered rate"
	RateMbps  Figure = "delivered rate, Mbit/s"
	Retrans   Figure = "retransmitted bytes"
	PerConn   Figure = "memory of a connection above the idle process, KiB"
	Sockets   Figure = "UDP sockets of a process"
	HealthyIn Figure = "healthy cases"
	PerPlayer Figure = "core of the relay per player"
	Cores     Figure = "cores while idle"
	Hop       Figure = "added delay of the local hop, p99, ms"
	Failures  Figure = "failures"
)

// AtLeast reports whether more is better.
func (f Figure) AtLeast() bool { return f == Complete || f == Rate || f == RateMbps || f == HealthyIn }

// The alarms: what a change against a peer or an older revision may cost.
const (
	AlarmThroughput = .10
	AlarmCPU        = .15
	AlarmRSS        = .15
	VerdictLine     = .10 // of the A/B comparison
	FlatTolerance   = .03 // of the source, each second
	HealthyOverMs   = 20  // p99 over the latency in a healthy step
)

// impaired is p behind a bad network: latency of four round trips, too-late
// packets dropped as by default, so that "nothing lost" says something.
func impaired(p Profile, n Net) Profile {
	ms := n.LatencyMs()
	q := Profile{
		Name:      p.Name + "-" + n.Name,
		Text:      fmt.Sprintf("the load of %s behind %d ms + 0-%d ms each way, %.1f %% loss; latency %d ms, TLPKTDROP on", p.Name, n.DelayMs, n.JitterMs, 100*n.Loss, ms),
		LatencyMs: float64(ms),
		Common:    withLatency(p.Common, ms), Send: p.Send,
		Lab: Lab{
			Peers: []string{Libsrt}, Full: Runs{1, 5}, Net: &n, Streams: p.Lab.Streams, Mbps: p.Lab.Mbps,
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Libsrt, .15}, {Retrans, Libsrt, 1.1}},
		},
	}
	if n.Reorder {
		q.Text += "; jitter overtakes"
	}
	return q
}

func withLatency(args []string, ms int) (out []string) {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--latency":
			out = append(out, args[i], fmt.Sprint(ms))
			i++
		case "--tlpktdrop":
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

// All returns every profile, the impaired variants included.
func All() []Profile { return all }
