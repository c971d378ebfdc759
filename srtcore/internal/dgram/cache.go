package dgram

// Cache is a loop's own free list in front of a Pool; it takes and gives Bufs
// in lots, so that the lock is rare. It belongs to one goroutine.
type Cache struct {
	pool  *Pool
	bufs  list
	views list
	run   slabRun
}

const cacheLot = 64

// NewCache returns a Cache in front of p.
func NewCache(p *Pool) *Cache {
	return &Cache{pool: p, bufs: make(list, 0, 2*cacheLot), views: make(list, 0, 2*cacheLot)}
}

// Get returns a Buf that the caller owns.
func (c *Cache) Get() *Buf {
	if len(c.bufs) == 0 {
		c.refill(&c.bufs, &c.pool.bufs, NewBuf)
	}
	b := c.bufs.pop()
	b.free = false
	return b
}

// refill brings a lot from the Pool; what that does not have is made.
func (c *Cache) refill(to, from *list, fresh func() *Buf) {
	*to = (*to)[:cacheLot]
	c.pool.fill(*to, from)
	for i, b := range *to {
		if b == nil {
			b = fresh()
			(*to)[i] = b
		}
		b.free = true
	}
}

// Put takes the Buf back; nil is ignored. Putting a free Buf panics.
func (c *Cache) Put(b *Buf) {
	if b == nil {
		return
	}
	b.release()
	if s := b.detach(); s != nil {
		c.store(&c.views, &c.pool.views, b)
		c.dropView(s)
		return
	}
	c.store(&c.bufs, &c.pool.bufs, b)
}

// dropView releases a view of s. Until the run ends, or nobody else has views
// of it, the Slab stays lent.
func (c *Cache) dropView(s *Slab) {
	c.settle(c.run.add(s))
	if c.run.last() {
		c.settle(c.run.end())
	}
}

func (c *Cache) settle(s *Slab) {
	if s != nil {
		c.pool.mu.Lock()
		c.pool.settle(s)
		c.pool.mu.Unlock()
	}
}

func (c *Cache) store(to, behind *list, b *Buf) {
	if len(*to) == cap(*to) {
		c.spill(to, behind, cacheLot)
	}
	*to = append(*to, b)
}

// Flush gives everything back to the Pool.
func (c *Cache) Flush() {
	c.settle(c.run.end())
	c.spill(&c.bufs, &c.pool.bufs, 0)
	c.spill(&c.views, &c.pool.views, 0)
}

func (c *Cache) spill(from, to *list, keep int) {
	c.pool.mu.Lock()
	for _, b := range (*from)[keep:] {
		to.keep(b, c.pool.max)
	}
	c.pool.mu.Unlock()
	clear((*from)[keep:])
	*from = (*from)[:keep]
}

// Slab returns a Slab that the caller owns.
func (c *Cache) Slab() *Slab {
	c.pool.mu.Lock()
	s := c.pool.slabs.get()
	c.pool.mu.Unlock()
	if s == nil {
		return newSlab()
	}
	return s
}

// PutSlab takes back a Slab that was not lent.
func (c *Cache) PutSlab(s *Slab) {
	c.pool.mu.Lock()
	c.pool.slabs.put(s)
	c.pool.mu.Unlock()
}

// Lend begins to hand s out as n views, which are to be taken by View. It
// returns another Slab in place of s; nil if too many are lent: s stays the
// caller's, who copies.
func (c *Cache) Lend(s *Slab, n int) (next *Slab) {
	p := c.pool
	p.mu.Lock()
	if p.slabs.lent >= p.slabs.max {
		p.mu.Unlock()
		return nil
	}
	p.slabs.lent++
	next = p.slabs.get()
	p.mu.Unlock()
	s.views.Store(int32(n))
	if next == nil {
		next = newSlab()
	}
	return next
}

// View returns a Buf that owns the n bytes at off of a lent Slab.
func (c *Cache) View(s *Slab, off, n int) *Buf {
	if len(c.views) == 0 {
		c.refill(&c.views, &c.pool.views, func() *Buf { return new(Buf) })
	}
	b := c.views.pop()
	b.view(s, off, n)
	return b
}

// Unlend gives up n views of s that were not taken.
func (c *Cache) Unlend(s *Slab, n int) {
	if s.drop(n) {
		c.settle(s)
	}
}
