package bench

// latencies is a histogram of 100 us buckets up to 10 s.
type latencies struct {
	bucket [100000]uint32
	n      uint64
	max    int64
}

const bucketNs = 100000

func (l *latencies) add(ns int64) {
	ns = max(ns, 0)
	l.bucket[min(int(ns/bucketNs), len(l.bucket)-1)]++
	l.n++
	l.max = max(l.max, ns)
}

// quantile is the upper edge of q's bucket, ms; -1 of nothing.
func (l *latencies) quantile(q float64) float64 {
	if l.n == 0 {
		return -1
	}
	want, sum := uint64(q*float64(l.n)), uint64(0)
	for i, v := range l.bucket {
		if sum += uint64(v); sum > want {
			return float64(i+1) * 0.1
		}
	}
	return float64(len(l.bucket)) * 0.1
}
