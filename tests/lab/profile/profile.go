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
	// What the lab adds: see lab.go.
	Lab Lab
}

// Bars are what weirline must reach; zero: not judged.
type Bars struct {
	CPUOfLibsrt, CPUOfShared float64 // CPU seconds as a share of the peer's
	Threads                  int     // of each process
	RSSBelowLibsrt           bool
	P99OverLatencyMs         float64
	AllDelivered             bool // and every message checked
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
