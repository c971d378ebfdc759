package dgram

import "sync"

// Pool is a free list that several goroutines share. It keeps at most max free
// Bufs; the rest goes back to the garbage collector, so that memory returns
// after a peak.
type Pool struct {
	mu   sync.Mutex
	free []*Buf
	max  int
}

// NewPool returns a Pool that keeps at most max free Bufs.
func NewPool(max int) *Pool { return &Pool{max: max} }

// Get returns a Buf that the caller owns.
func (p *Pool) Get() *Buf {
	p.mu.Lock()
	b := p.pop()
	p.mu.Unlock()
	if b == nil {
		return new(Buf)
	}
	return b
}

// GetN fills dst with Bufs that the caller owns, under one lock.
func (p *Pool) GetN(dst []*Buf) {
	p.mu.Lock()
	for i := range dst {
		dst[i] = p.pop()
	}
	p.mu.Unlock()
	for i := range dst {
		if dst[i] == nil {
			dst[i] = new(Buf)
		}
	}
}

// Put takes the Buf back. Putting a free Buf panics: it had two owners.
func (p *Pool) Put(b *Buf) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.push(b)
}

// PutN takes all Bufs of src back, under one lock.
func (p *Pool) PutN(src []*Buf) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range src {
		p.push(b)
	}
}

func (p *Pool) pop() *Buf {
	n := len(p.free)
	if n == 0 {
		return nil
	}
	b := p.free[n-1]
	p.free[n-1] = nil
	p.free = p.free[:n-1]
	b.free = false
	return b
}

func (p *Pool) push(b *Buf) {
	b.release()
	p.keep(b)
}

func (b *Buf) release() {
	if b.free {
		panic("dgram: Buf released twice")
	}
	b.free = true
}

func (p *Pool) keep(b *Buf) {
	if len(p.free) < p.max {
		p.free = append(p.free, b)
	}
}

// Cache is a loop's own free list in front of a Pool; it takes and gives Bufs
// in lots, so that the lock is rare. It belongs to one goroutine.
type Cache struct {
	pool *Pool
	free []*Buf
}

const cacheLot = 64

// NewCache returns a Cache in front of p.
func NewCache(p *Pool) *Cache { return &Cache{pool: p, free: make([]*Buf, 0, 2*cacheLot)} }

// Get returns a Buf that the caller owns.
func (c *Cache) Get() *Buf {
	if len(c.free) == 0 {
		c.free = c.free[:cacheLot]
		c.pool.GetN(c.free)
		for _, b := range c.free {
			b.free = true
		}
	}
	n := len(c.free) - 1
	b := c.free[n]
	c.free[n] = nil
	c.free = c.free[:n]
	b.free = false
	return b
}

// Put takes the Buf back; nil is ignored. Putting a free Buf panics.
func (c *Cache) Put(b *Buf) {
	if b == nil {
		return
	}
	b.release()
	if len(c.free) == cap(c.free) {
		c.spill(cacheLot)
	}
	c.free = append(c.free, b)
}

// Flush gives everything back to the Pool.
func (c *Cache) Flush() { c.spill(0) }

func (c *Cache) spill(keep int) {
	c.pool.mu.Lock()
	for _, b := range c.free[keep:] {
		c.pool.keep(b)
	}
	c.pool.mu.Unlock()
	clear(c.free[keep:])
	c.free = c.free[:keep]
}
