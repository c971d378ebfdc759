// Package profile holds the measurement profiles as data: what the two
// processes of a run are told, and what a result must reach.
//
// Lives here: profiles and bars.
// May import: the standard library. Never: srtcore, sidecar.
package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Profile is one workload.
type Profile struct {
	Name string
	Text string
	// Common goes to both processes, Send to the sender alone. Neither names
	// port, host or duration.
	Common, Send []string
	LatencyMs    float64
	Bars         Bars
}

// Bars are what weirline must reach; zero: not judged.
type Bars struct {
	CPUOfLibsrt, CPUOfShared float64 // CPU seconds as a share of the peer's
	Threads                  int     // of each process
	RSSBelowLibsrt           bool
	P99OverLatencyMs         float64
	AllDelivered             bool // and every message checked
}

var all = []Profile{
	{
		Name: "P1", Text: "1 x 50 Mbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 1 --latency 120"), Send: split("--mbps 50"),
		Bars: Bars{AllDelivered: true, Threads: 8},
	},
	{
		Name: "P2", Text: "32 x 10 Mbit/s, latency 20 ms, TLPKTDROP off", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0"), Send: split("--mbps 10"),
		Bars: Bars{
			CPUOfLibsrt: 0.15, CPUOfShared: 0.28, Threads: 8, RSSBelowLibsrt: true,
			P99OverLatencyMs: 2, AllDelivered: true,
		},
	},
	{
		Name: "P3", Text: "32 x 62.5 Mbit/s (2 Gbit/s), latency 120 ms", LatencyMs: 120,
		Common: split("--streams 32 --latency 120"), Send: split("--mbps 62.5"),
		Bars: Bars{AllDelivered: true, Threads: 8},
	},
	{
		Name: "P4", Text: "P2 with AES-128-CTR", LatencyMs: 20,
		Common: split("--streams 32 --latency 20 --tlpktdrop 0 --passphrase benchmark-secret-1 --pbkeylen 16"),
		Send:   split("--mbps 10"),
		Bars:   Bars{AllDelivered: true, Threads: 8},
	},
	{
		Name: "P6", Text: "256 x 1.25 Mbit/s, latency 120 ms", LatencyMs: 120,
		Common: split("--streams 256 --latency 120"), Send: split("--mbps 1.25"),
		Bars: Bars{AllDelivered: true, Threads: 8},
	},
}

func split(s string) []string { return strings.Fields(s) }

// Get returns the profile of that name.
func Get(name string) (Profile, error) {
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, fmt.Errorf("no profile %q; there are %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
}

// Names lists the profiles.
func Names() []string {
	var out []string
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}
