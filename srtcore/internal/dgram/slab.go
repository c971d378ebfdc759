package dgram

import "sync/atomic"

// SlabSize is the room of a Slab: the longest train of datagrams.
const SlabSize = 64 << 10

// Slab is memory that a train of datagrams is received into. It has one owner,
// like a Buf, until it is lent: cut into views, Bufs that own a part of it each.
// The last view that is released brings it back to the Pool. The memory is an
// object of its own: it holds no pointers, and the count, which every train
// touches, does not lie beside bytes that nobody has read for a latency.
type Slab struct {
	views atomic.Int32 // not yet released
	mem   *[SlabSize]byte
	_     [48]byte // a cache line each, as views are released by many goroutines
}

// Mem returns the whole room of the Slab for a reader to fill.
func (s *Slab) Mem() []byte { return s.mem[:] }

// view makes b the part of s that begins at off and is n bytes long.
func (b *Buf) view(s *Slab, off, n int) {
	*b = Buf{slab: s, off: uint16(off), room: uint16(n), n: uint16(n)}
}

// detach takes the Slab from a view that is released; nil if b is none.
func (b *Buf) detach() *Slab {
	s := b.slab
	if s != nil {
		*b = Buf{free: b.free}
	}
	return s
}

// drop releases n views at once and tells whether they were the last.
func (s *Slab) drop(n int) bool { return n > 0 && s.views.Add(int32(-n)) == 0 }

const (
	// maxLent bounds the slabs that a Pool has out as views, 64 MiB: one packet
	// that stays is enough to hold a whole slab.
	maxLent = 64 << 20 / SlabSize
	// minSlabs is how many free slabs a Pool keeps in any case; it keeps one more
	// for every four that are lent, as they come back in bursts.
	minSlabs = 16
)

// slabPool is the part of a Pool that is about slabs; the Pool's lock guards it.
type slabPool struct {
	free []*Slab
	lent int // slabs out as views
	max  int // of lent
}

// get returns a free Slab, or nil.
func (p *slabPool) get() *Slab {
	n := len(p.free) - 1
	if n < 0 {
		return nil
	}
	s := p.free[n]
	p.free[n] = nil
	p.free = p.free[:n]
	return s
}

// put takes a Slab back that was not lent. What is too many goes back to the
// garbage collector.
func (p *slabPool) put(s *Slab) {
	p.free = append(p.free, s)
	for keep := minSlabs + p.lent/4; len(p.free) > keep; {
		p.get()
	}
}

// returned takes a Slab back whose last view was released.
func (p *slabPool) returned(s *Slab) {
	p.lent--
	p.put(s)
}

func newSlab() *Slab { return &Slab{mem: new([SlabSize]byte)} }

// slabRun counts released views of one Slab, neighbours in time as a rule, so
// that the count of the Slab is touched once for all of them.
type slabRun struct {
	slab *Slab
	n    int
}

// add notes a released view of s. It returns the Slab that has no views any
// more, if there is one: that of the run that ended.
func (r *slabRun) add(s *Slab) (done *Slab) {
	if s != r.slab {
		done = r.end()
		r.slab = s
	}
	r.n++
	return done
}

// end ends the run; it returns its Slab if no views of it are left.
func (r *slabRun) end() (done *Slab) {
	if r.slab != nil && r.slab.drop(r.n) {
		done = r.slab
	}
	*r = slabRun{}
	return done
}

// last tells whether nobody else has views of the Slab.
func (r *slabRun) last() bool { return int(r.slab.views.Load()) == r.n }
