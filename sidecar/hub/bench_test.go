package hub

import (
	"fmt"
	"testing"
)

// BenchmarkFanOut publishes messages that every reader takes from its queue, in
// batches as an output does.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 10, 200} {
		b.Run(fmt.Sprintf("readers=%d", n), func(b *testing.B) {
			const batch = 64
			h := New()
			var readers []*Reader
			for range n {
				readers = append(readers, h.JoinWith(Options{Limit: 5 << 20, Cut: tens}))
			}
			m, dst := make([]byte, 1316), make([]*Payload, batch)
			b.ReportAllocs()
			for b.Loop() {
				for range batch {
					h.Publish(m, epoch)
				}
				for _, r := range readers {
					k, _ := r.Next(b.Context(), dst)
					for _, p := range dst[:k] {
						p.Release()
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch*n), "ns/delivery")
		})
	}
}

// BenchmarkOverrun is a reader that reads nothing, beside none that does.
func BenchmarkOverrun(b *testing.B) {
	h := New()
	h.JoinWith(Options{Limit: 1 << 20, Cut: func(m []byte) bool { return m[0] == 0 }})
	m := make([]byte, 1316)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m[0] = byte(i)
		h.Publish(m, epoch)
	}
}
