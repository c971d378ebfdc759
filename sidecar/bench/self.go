package bench

import "io"

type selfReport struct {
	Build    decimal `json:"build_ns"`
	Check    decimal `json:"check_ns"`
	BuildCPU decimal `json:"build_cpu_s_per_gbit"`
	CheckCPU decimal `json:"check_cpu_s_per_gbit"`
	Bad      int     `json:"bad"`
}

// Self prints what the tool's own building and checking costs.
func Self(out io.Writer) int {
	const n = 500000
	const gbit = n * messageSize * 8 / 1e9
	m, bad := make([]byte, messageSize), 0
	t0 := now()
	for i := range n {
		build(m, uint32(i&31), uint64(i), 32, now())
	}
	t1 := now()
	for range n {
		if _, err := check(m, false); err != nil || now() == 0 {
			bad++
		}
	}
	built, checked := float64(t1-t0), float64(now()-t1)
	printLine(out, selfReport{decimal{built / n, 1}, decimal{checked / n, 1},
		decimal{built / 1e9 / gbit, 5}, decimal{checked / 1e9 / gbit, 5}, bad})
	return 0
}
