package probe

import (
	"slices"
	"testing"
)

// FuzzTally takes messages from a peer that says what it likes. What is counted
// must stay within what came.
func FuzzTally(f *testing.F) {
	s := newStream(3 * tsSize)
	var whole []byte
	for range 12 {
		whole = append(whole, s.message()...)
	}
	first := newStream(tsSize).message()
	lies := slices.Clone(first)
	be.PutUint16(lies[offSizes:], 0xffff)
	far := slices.Clone(first)
	be.PutUint32(far[offIndex:], 1<<32-1)
	f.Add(whole, uint16(3*tsSize))
	f.Add(slices.Concat(first, far), uint16(tsSize))
	f.Add(lies, uint16(tsSize))
	f.Add([]byte("no test stream"), uint16(5))
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		var y tally
		n := 0
		for m := range slices.Chunk(in, int(size)+1) {
			y.take(m)
			n++
		}
		arrived := 0
		for _, c := range y.sizeClasses() {
			if c.Sent < 0 || c.Lost < 0 || c.Lost > c.Sent {
				t.Fatalf("%+v", c)
			}
			arrived += c.Sent - c.Lost
		}
		if arrived != y.seen || y.seen+y.damaged > n {
			t.Fatalf("%d arrived, %d seen and %d damaged of %d", arrived, y.seen, y.damaged, n)
		}
	})
}
