package profile

// Scenario is a workload that is no pair of processes of one program: its
// settings and bars as data. What a field means is told where it is used.
type Scenario struct {
	Name, Text  string
	Quick, Full Setting // a Secs of 0: not part of it
	Bars        []Bar
}

// Setting is the size of a scenario.
type Setting struct {
	Secs  float64 // of each steady part
	N     int     // connections, players, writers, or where a search begins
	Cap   int     // where a search ends
	Cases int
	// Controls are cases without what is tested, reported beside the others.
	Controls int
	Mbps     float64 // of each stream
	Stall    int
	// Expect is how long all of it takes, roughly, in seconds.
	Expect float64
}

// The names of the scenarios.
const (
	Fanout   = "fanout"
	Bridge   = "sidecar"
	Flood    = "nak-flood"
	Idle     = "idle"
	Churn    = "churn"
	Slow     = "slow-readers"
	Capacity = "capacity"
	Steady   = "steady-state"
)

// FloodWindows are the flow windows an attacker offers, FloodRate its loss
// reports a second.
var FloodWindows = []int{8192, 65536}

// FloodRate is how many loss reports a second an attacker sends. FloodFillMbps is
// the rate of the stream until the attacker's window is full, which takes 14 s
// for 65,536 packets at 50 Mbit/s.
const (
	FloodRate     = 5000
	FloodFillMbps = 250
)

var scenarios = []Scenario{
	{
		Name: Fanout, Text: "1 publisher at 600 kbit/s, a relay on one core, N players, each on its own UDP socket",
		Quick: Setting{Secs: 4, N: 160, Cap: 2560, Mbps: .6, Expect: 90},
		Full:  Setting{Secs: 6, N: 160, Cap: 10240, Mbps: .6, Expect: 160},
		// 1,280 players a core is the published step of a server on libsrt.
		Bars: []Bar{{PerPlayer, "", 1.0 / 1280}},
	},
	{
		Name: Bridge, Text: "32 local HTTP writers of 5 Mbit/s into one sidecar, against 32 writers on libsrt",
		Quick: Setting{Secs: 5, N: 32, Mbps: 5, Cases: 1, Expect: 35},
		Full:  Setting{Secs: 6, N: 32, Mbps: 5, Cases: 5, Expect: 190},
		Bars:  []Bar{{Complete, "", 1}, {CPU, Libsrt, .5}, {Hop, "", 1}, {Threads, "", 8}},
	},
	{
		Name: Flood, Text: "5,000 NAK/s against full windows of 8,192 and 65,536 beside a healthy 50 Mbit/s stream on the same listener",
		Quick: Setting{Secs: 2, Cases: 20, Controls: 2, Mbps: 50, Expect: 264},
		Full:  Setting{Secs: 3, Cases: 20, Controls: 4, Mbps: 50, Expect: 312},
		Bars:  []Bar{{HealthyIn, "", 20}},
	},
	{
		Name: Idle, Text: "10,000 idle connections on one process, held for 60 s",
		Quick: Setting{Secs: 60, N: 10000, Expect: 75},
		Full:  Setting{Secs: 60, N: 10000, Expect: 75},
		Bars:  []Bar{{PerConn, "", 16}, {Cores, "", .10}, {Failures, "", 0}},
	},
	{
		Name: Churn, Text: "64 clients connect, send five messages and leave, over and over",
		Full: Setting{Secs: 20, N: 64, Expect: 25},
		Bars: []Bar{{Failures, "", 0}},
	},
	{
		Name: Slow, Text: "100 players of 600 kbit/s, 20 of which never read",
		Full: Setting{Secs: 10, N: 100, Stall: 20, Mbps: .6, Expect: 18},
		Bars: []Bar{{Complete, "", 1}},
	},
	{
		Name: Capacity, Text: "streams of 10 Mbit/s until one fails, then holds at 50 % and 90 %",
		Full: Setting{Secs: 3, N: 32, Cap: 1024, Mbps: 10, Expect: 180},
	},
	{
		Name: Steady, Text: "allocations on the send and receive paths, by the project's own tests",
		Quick: Setting{Secs: 1, Expect: 20},
		Full:  Setting{Secs: 1, Expect: 20},
		Bars:  []Bar{{Failures, "", 0}},
	},
}

// Scenarios returns all of them.
func Scenarios() []Scenario { return scenarios }
