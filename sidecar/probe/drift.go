package probe

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

const (
	// driftWindows are the parts in each of which the fastest packet counts: the
	// others waited somewhere.
	driftWindows = 20
	// minDriftTime is how long it takes at least to see two clocks run apart.
	minDriftTime = 5 * time.Second
)

// drift fits a line through the shortest delays: its slope is the difference of
// the clocks. A peer whose clock is fast stamps ever later, so that its packets
// seem to take ever less time.
func drift(ds []delay) (ppm, uncertain float64) {
	if len(ds) == 0 || ds[len(ds)-1].at-ds[0].at < minDriftTime {
		return 0, 0
	}
	from, width := ds[0].at, (ds[len(ds)-1].at-ds[0].at)/driftWindows+1
	least := map[int]delay{}
	for _, d := range ds {
		w := int((d.at - from) / width)
		if l, ok := least[w]; !ok || d.took < l.took {
			least[w] = d
		}
	}
	if len(least) < driftWindows/2 {
		return 0, 0
	}
	slope, stderr := fitLine(slices.SortedFunc(maps.Values(least), func(a, b delay) int { return cmp.Compare(a.at, b.at) }))
	return -slope * 1e6, stderr * 1e6
}

// fitLine returns the slope of the line through most of the points, which are in
// the order of time, and its standard error. It is the median of the slopes
// between all pairs (Theil and Sen): a few points that lie far off, since one of
// the machines was busy then, do not turn it. The error follows from how many of
// the slopes chance may put on one side (Kendall), whatever the points scatter
// like.
func fitLine(ds []delay) (slope, stderr float64) {
	var slopes []float64
	for i, a := range ds {
		for _, b := range ds[i+1:] {
			slopes = append(slopes, (b.took-a.took).Seconds()/(b.at-a.at).Seconds())
		}
	}
	slices.Sort(slopes)
	n := float64(len(ds))
	const sigmas = 2
	off := sigmas * math.Sqrt(n*(n-1)*(2*n+5)/18) / 2
	at := func(rank float64) float64 { return slopes[min(max(int(rank), 0), len(slopes)-1)] }
	middle := float64(len(slopes)) / 2
	return at(middle), (at(middle+off) - at(middle-off)) / (2 * sigmas)
}
