package mpegts

import (
	"slices"
	"testing"
	"time"
)

// FuzzHealth feeds anything, cut anywhere. The counters must stay within what
// was fed.
func FuzzHealth(f *testing.F) {
	f.Add(frames(f, 1)[:5*PacketSize], uint16(1316))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		h, c := newHealth()
		for m := range slices.Chunk(in, int(size)+1) {
			c.t = c.t.Add(time.Millisecond)
			h.Feed([][]byte{m}, c.t)
			CutPoint(m)
		}
		r := h.Report()
		if r.Packets*PacketSize+r.StrayBytes > uint64(len(in)) {
			t.Fatalf("%d packets and %d stray bytes of %d", r.Packets, r.StrayBytes, len(in))
		}
		if r.ContinuityErrors+r.TransportErrors > r.Packets || len(r.Programs) > maxPrograms {
			t.Fatalf("%+v", r)
		}
	})
}
