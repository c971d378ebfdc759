package dgram

import "sync"

// Pool is a free list that several goroutines share. It keeps at most max free
// Bufs; the rest goes back to the garbage collector, so that memory returns
// after a peak. What has memory of its own and what is lent some, the headers of
// views, are lists apart.
type Pool struct {
	mu    sync.Mutex
	bufs  list
	views list
	max   int
	slabs slabPool
}

// NewPool returns a Pool that keeps at most max free Bufs.
func NewPool(max int) *Pool { return &Pool{max: max, slabs: slabPool{max: maxLent}} }

// list is a stack of free Bufs of one kind.
type list []*Buf

// pop returns the Buf that was put last, or nil.
func (l *list) pop() *Buf {
	n := len(*l) - 1
	if n < 0 {
		return nil
	}
	b := (*l)[n]
	(*l)[n] = nil
	*l = (*l)[:n]
	return b
}

// keep puts b among the free ones unless there are max.
func (l *list) keep(b *Buf, max int) {
	if len(*l) < max {
		*l = append(*l, b)
	}
}

// Get returns a Buf that the caller owns.
func (p *Pool) Get() *Buf {
	p.mu.Lock()
	b := p.bufs.pop()
	p.mu.Unlock()
	if b == nil {
		return NewBuf()
	}
	b.free = false
	return b
}

// GetN fills dst with Bufs that the caller owns, under one lock.
func (p *Pool) GetN(dst []*Buf) {
	p.fill(dst, &p.bufs)
	for i, b := range dst {
		if b == nil {
			dst[i] = NewBuf()
			continue
		}
		b.free = false
	}
}

// fill takes from the list what there is; the rest of dst becomes nil.
func (p *Pool) fill(dst []*Buf, from *list) {
	p.mu.Lock()
	for i := range dst {
		dst[i] = from.pop()
	}
	p.mu.Unlock()
}

// Put takes the Buf back. Putting a free Buf panics: it had two owners.
func (p *Pool) Put(b *Buf) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var run slabRun
	p.push(b, &run)
	p.settle(run.end())
}

// PutN takes all Bufs of src back, under one lock.
func (p *Pool) PutN(src []*Buf) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var run slabRun
	for _, b := range src {
		p.push(b, &run)
	}
	p.settle(run.end())
}

func (p *Pool) push(b *Buf, run *slabRun) {
	b.release()
	s := b.detach()
	if s == nil {
		p.bufs.keep(b, p.max)
		return
	}
	p.views.keep(b, p.max)
	p.settle(run.add(s))
}

// settle takes back a Slab without views; nil is ignored. The lock is held.
func (p *Pool) settle(s *Slab) {
	if s != nil {
		p.slabs.returned(s)
	}
}

func (b *Buf) release() {
	if b.free {
		panic("dgram: Buf released twice")
	}
	b.free = true
}
