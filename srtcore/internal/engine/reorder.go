package engine

// reorder adapts the tolerance for packets that the network swaps: how many
// further packets a loss is held back for (SRTO_LOSSMAXTTL bounds it). It
// starts at the bound, so that the first swap is tolerated too.
type reorder struct {
	limit     int // packets
	calm      int // packets in order since the last reordering
	tolerance int // packets, 0..limit
	early     int // reordered packets that needed less than the tolerance
}

const (
	// calmPackets in order take one off the tolerance.
	calmPackets = 50
	// earlyPackets that came sooner than tolerated do the same.
	earlyPackets = 10
)

func (r *reorder) init(limit int) { r.limit, r.tolerance = limit, limit }

// ahead: a packet with a new highest number came, next in order or not.
func (r *reorder) ahead(next bool) {
	if r.limit == 0 || !next {
		return
	}
	if r.calm++; r.calm >= calmPackets {
		r.calm = 0
		r.lower()
	}
}

// late: a packet came that others overtook by distance. Retransmissions say
// nothing about the network's order.
func (r *reorder) late(distance int, rexmit bool, st *counters) {
	if rexmit {
		return
	}
	st.reorderDistance = max(st.reorderDistance, distance)
	r.calm = 0
	switch {
	case r.limit == 0:
	case distance > r.tolerance:
		r.tolerance = min(distance, r.limit)
		r.early = 0
	case distance < r.tolerance:
		if r.early++; r.early >= earlyPackets {
			r.early = 0
			r.lower()
		}
	}
}

func (r *reorder) lower() { r.tolerance = max(r.tolerance-1, 0) }
