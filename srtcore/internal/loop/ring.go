package loop

// ring is a queue that grows by doubling and never shrinks; its owner bounds
// it. An idle connection costs no memory, a busy one allocates no more once it
// has seen its peak.
type ring[T any] struct {
	items []T // length a power of two
	head  int
	n     int
}

const firstRing = 8

func (r *ring[T]) push(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.items[(r.head+r.n)&(len(r.items)-1)] = v
	r.n++
}

func (r *ring[T]) grow() {
	bigger := make([]T, max(firstRing, 2*len(r.items)))
	for i := range r.n {
		bigger[i] = *r.at(i)
	}
	r.items, r.head = bigger, 0
}

func (r *ring[T]) at(i int) *T { return &r.items[(r.head+i)&(len(r.items)-1)] }

// pop removes the oldest item; the ring must not be empty.
func (r *ring[T]) pop() T {
	var zero T
	p := r.at(0)
	v := *p
	*p = zero
	r.head = (r.head + 1) & (len(r.items) - 1)
	r.n--
	return v
}

// unpop puts v in front of the oldest item.
func (r *ring[T]) unpop(v T) {
	if r.n == len(r.items) {
		r.grow()
	}
	r.head = (r.head - 1) & (len(r.items) - 1)
	r.items[r.head] = v
	r.n++
}
