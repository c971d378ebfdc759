package profile

const (
	secret = " --passphrase benchmark-secret-1"
	big    = " --fc 60000 --rcvbuf 87360000 --sndbuf 87360000"
)

// base are the profiles on a clean loopback. Bars is of make bench, Lab.Bars of
// make lab.
var base = []Profile{
	{
		Name: "P1", Text: "1 x 50 Mbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 1 --latency 120"), Send: split("--mbps 50"),
		Bars: Bars{AllDelivered: true, Threads: 8},
		Lab: Lab{
			Peers: []string{Libsrt, Gosrt}, Quick: Runs{2, 5}, Full: Runs{5, 8}, Streams: 1, Mbps: 50,
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Libsrt, .55}, {Threads, "", 8}},
		},
	},
	{
		Name: "P2", Text: "32 x 10 Mbit/s, latency 20 ms, TLPKTDROP off", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0"), Send: split("--mbps 10"),
		Bars: Bars{
			CPUOfLibsrt: 0.15, CPUOfShared: 0.28, Threads: 8, RSSBelowLibsrt: true,
			P99OverLatencyMs: 2, AllDelivered: true,
		},
		Lab: Lab{
			Peers: []string{Libsrt, Shared, Gosrt, RawGSO, RawMmsg}, Quick: Runs{3, 5}, Full: Runs{5, 8}, Streams: 32, Mbps: 10,
			Bars: []Bar{
				{Complete, "", 1}, {CPUGbit, Libsrt, .08}, {CPUGbit, Shared, .14}, {CPUGbit, Gosrt, .22}, {CPUGbit, RawGSO, 4},
				{P99, "", 1}, {RSS, Libsrt, .5}, {Threads, "", 8},
			},
		},
	},
	{
		Name: "P3", Text: "32 x 62.5 Mbit/s (2 Gbit/s), latency 120 ms", LatencyMs: 120,
		Common: split("--streams 32 --latency 120"), Send: split("--mbps 62.5"),
		Bars: Bars{AllDelivered: true, Threads: 8},
		Lab: Lab{
			Peers: []string{Libsrt, Shared, Gosrt}, Quick: Runs{2, 5}, Full: Runs{5, 8}, Streams: 32, Mbps: 62.5,
			// One listener port and one sender socket carry all of it.
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Shared, .15}, {RateMbps, "", 1990}, {Sockets, "", 1}},
		},
	},
	{
		Name: "P4", Text: "P2 with AES-128-CTR", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0" + secret + " --pbkeylen 16"),
		Send:   split("--mbps 10"),
		Bars:   Bars{AllDelivered: true, Threads: 8},
		Lab: Lab{
			Peers: []string{Libsrt, Shared, Gosrt}, Quick: Runs{2, 5}, Full: Runs{5, 8}, Streams: 32, Mbps: 10,
			LibsrtOnly: split("--tlpktdrop 1"), Known: libsrtDrops,
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Libsrt, .12}},
		},
	},
	{
		Name: "P6", Text: "256 x 1.25 Mbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 256 --latency 120"), Send: split("--mbps 1.25"),
		Bars: Bars{AllDelivered: true, Threads: 8},
		Lab: Lab{
			Peers: []string{Libsrt, Shared, Gosrt}, Quick: Runs{2, 5}, Full: Runs{5, 8}, Streams: 256, Mbps: 1.25,
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Shared, .12}, {RSS, Shared, .15}, {Threads, "", 8}},
		},
	},
	{
		Name: "P7", Text: "1 connection, as fast as it goes, latency 120 ms, TLPKTDROP off", LatencyMs: 120,
		Common: split("--streams 1 --latency 120 --tlpktdrop 0 --maxbw 1250000000" + big), Send: split("--unpaced"),
		Lab: Lab{
			Peers: []string{Libsrt}, Quick: Runs{2, 5}, Full: Runs{5, 8}, Streams: 1,
			LibsrtOnly: split("--tlpktdrop 1"), Known: libsrtDrops,
			Bars: []Bar{{Complete, "", 1}, {Rate, Libsrt, 1.5}},
		},
	},
	{
		Name: "P4-256", Text: "P2 with AES-256-CTR", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0" + secret + " --pbkeylen 32"),
		Send:   split("--mbps 10"),
		Lab: Lab{
			Peers: []string{Libsrt}, Full: Runs{3, 6}, Streams: 32, Mbps: 10,
			LibsrtOnly: split("--tlpktdrop 1"), Known: libsrtDrops,
			Bars: []Bar{{Complete, "", 1}, {CPUGbit, Libsrt, .12}},
		},
	},
	{
		Name: "PUB100", Text: "100 publishers x 3 Mbit/s on one port, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 100 --latency 120"), Send: split("--mbps 3"),
		Lab: Lab{
			Peers: []string{Libsrt, Shared, Gosrt}, Full: Runs{2, 6}, Streams: 100, Mbps: 3,
			Bars: []Bar{{Complete, "", 1}},
		},
	},
	{
		Name: "K1000", Text: "1,000 x 100 kbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 1000 --latency 120"), Send: split("--mbps 0.1"),
		Lab: Lab{
			Quick: Runs{1, 10}, Full: Runs{2, 15}, Streams: 1000, Mbps: .1,
			Bars: []Bar{{Complete, "", 1}, {Threads, "", 10}, {PerConn, "", 40}},
		},
	},
	{
		Name: "P2-gso-off", Text: "P2 with GSO and GRO off", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0"), Send: split("--mbps 10"),
		Lab: Lab{
			Quick: Runs{1, 5}, Full: Runs{3, 5}, Streams: 32, Mbps: 10,
			OursOnly: split("--no-gso --no-gro"), Bars: []Bar{{Complete, "", 1}},
		},
	},
	{
		Name: "PROBE", Text: "delay probe: 1 x 1 Mbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 1 --latency 120"), Send: split("--mbps 1"),
		Lab: Lab{
			Peers: []string{Libsrt, Gosrt}, Quick: Runs{1, 5}, Full: Runs{3, 8}, Streams: 1, Mbps: 1,
			Bars: []Bar{{Complete, "", 1}, {P99, "", 1}},
		},
	},
}

var all = register()

// register adds the impaired variants. Those of P2 are in the quick lab.
func register() []Profile {
	out := append([]Profile{}, base...)
	for _, p := range base {
		switch p.Name {
		case "P1", "P2", "P3", "P4", "P6", "K1000":
		default:
			continue
		}
		for _, n := range []Net{Light, Strong} {
			q := impaired(p, n)
			if p.Name == "P2" {
				q.Lab.Quick, q.Lab.Full = Runs{1, 5}, Runs{5, 8}
			} else {
				q.Lab.Bars = nil // shown, not judged: the bad network itself is at its limit
			}
			out = append(out, q)
		}
	}
	p2, _ := find(base, "P2")
	q := impaired(p2, Reorder)
	q.Lab.Full, q.Lab.Bars = Runs{2, 6}, []Bar{{Complete, "", 1}}
	return append(out, q)
}

func find(ps []Profile, name string) (Profile, bool) {
	for _, p := range ps {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
