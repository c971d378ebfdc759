package dgram

import (
	"bytes"
	"sync"
	"testing"
	"unsafe"
)

// What stands beside the payload of a received packet; a Buf with memory of its
// own is no larger an object than that memory.
const (
	_ = uint(24 - unsafe.Sizeof(Buf{}))
	_ = uint(1536 - 8 - unsafe.Sizeof(Buf{}) - Size) // the allocator's class, less its header
)

// lent returns a Slab cut into n views of 100 bytes, each filled with its number.
func lent(t *testing.T, c *Cache, n int) (*Slab, []*Buf) {
	t.Helper()
	s := c.Slab()
	if next := c.Lend(s, n); next == nil || next == s {
		t.Fatal("no other Slab in place of the lent one")
	} else {
		c.PutSlab(next)
	}
	bufs := make([]*Buf, n)
	for i := range bufs {
		bufs[i] = c.View(s, i*100, 100)
		copy(bufs[i].Mem(), bytes.Repeat([]byte{byte(i)}, 100))
	}
	return s, bufs
}

func TestViewsAreApart(t *testing.T) {
	c := NewCache(NewPool(100))
	_, bufs := lent(t, c, 3)
	b := bufs[1]
	if b.Len() != 100 || len(b.Mem()) != 100 || len(b.Header()) != HeaderSize || len(b.Payload()) != 84 {
		t.Errorf("length %d, room %d, header %d, payload %d", b.Len(), len(b.Mem()), len(b.Header()), len(b.Payload()))
	}
	for _, p := range [][]byte{b.Mem(), b.Bytes(), b.Header(), b.Payload()} {
		p = append(p, 0xFF) // beyond the end: not into the neighbour
		for i := range p {
			p[i] = 0xFF
		}
		clear(b.Payload()) // decryption is in place, too
	}
	if n := b.SetPayload(make([]byte, 200)); n != 84 || b.Len() != 100 {
		t.Errorf("SetPayload: %d, length %d", n, b.Len())
	}
	if b.Reset(5000); b.Len() != 100 {
		t.Errorf("length %d in a room of 100", b.Len())
	}
	if b.Reset(10); b.Len() != 10 || b.Payload() != nil || cap(b.Bytes()) != 100 {
		t.Errorf("length %d, payload %x, capacity %d", b.Len(), b.Payload(), cap(b.Bytes()))
	}
	for _, i := range []int{0, 2} {
		if !bytes.Equal(bufs[i].Bytes(), bytes.Repeat([]byte{byte(i)}, 100)) {
			t.Errorf("view %d was overwritten", i)
		}
	}
}

// held returns what the Pool holds free, and how many slabs are lent.
func (p *Pool) held() (slabs, views, bufs, lent int) {
	return len(p.slabs.free), len(p.views), len(p.bufs), p.slabs.lent
}

func TestLastReleaseReturnsSlab(t *testing.T) {
	for name, release := range map[string]func(p *Pool, c *Cache, bufs []*Buf){
		"Put":  func(p *Pool, _ *Cache, bufs []*Buf) { p.Put(bufs[0]) },
		"PutN": func(p *Pool, _ *Cache, bufs []*Buf) { p.PutN(bufs) },
		"Cache": func(_ *Pool, c *Cache, bufs []*Buf) {
			for _, b := range bufs {
				c.Put(b)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := NewPool(100)
			c := NewCache(p)
			s, bufs := lent(t, c, 9)
			_, others := lent(t, c, 2) // between them, so that runs end
			release(p, c, bufs[:1])
			release(p, c, others[:1])
			p.PutN(bufs[1:8])
			if _, _, _, lent := p.held(); lent != 2 {
				t.Fatalf("%d slabs lent, want 2", lent)
			}
			c.settle(c.run.end()) // of others
			release(p, c, bufs[8:])
			if _, _, _, lent := p.held(); lent != 1 {
				t.Errorf("%d slabs lent after the last view, want 1", lent)
			}
			if c.Slab() != s {
				t.Error("the Slab does not come back")
			}
			c.Flush()
			if _, views, own, _ := p.held(); own != 0 || views < 10 {
				t.Errorf("%d headers and %d Bufs in the pool", views, own)
			}
		})
	}
}

// A run of the Cache holds what was released until it ends.
func TestCacheEndsRuns(t *testing.T) {
	p := NewPool(100)
	c := NewCache(p)
	_, bufs := lent(t, c, 2)
	c.Put(bufs[0])
	p.Put(bufs[1])
	c.Flush()
	if slabs, _, _, lent := p.held(); lent != 0 || slabs == 0 {
		t.Errorf("%d slabs lent, %d free", lent, slabs)
	}
}

func TestReleasedViewIsBare(t *testing.T) {
	p := NewPool(100)
	c := NewCache(p)
	_, bufs := lent(t, c, 1)
	b := bufs[0]
	p.Put(b)
	if b.slab != nil || b.own != nil {
		t.Error("a released view holds memory")
	}
	if got := p.Get(); got == b || len(got.Mem()) != Size {
		t.Error("the header of a view came as a Buf")
	}
	for what, put := range map[string]func(){
		"Pool.Put": func() { p.Put(b) }, "Pool.PutN": func() { p.PutN(bufs) }, "Cache.Put": func() { c.Put(b) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of a free view: no panic", what)
				}
			}()
			put()
		}()
	}
}

func TestLendingIsBounded(t *testing.T) {
	p := NewPool(100)
	p.slabs.max = 2
	c := NewCache(p)
	_, a := lent(t, c, 1)
	lent(t, c, 1)
	s := c.Slab()
	if c.Lend(s, 5) != nil {
		t.Fatal("lent one too many")
	}
	c.PutSlab(s)
	p.Put(a[0])
	lent(t, c, 1)
}

func TestUnlend(t *testing.T) {
	for _, first := range []bool{true, false} {
		p := NewPool(100)
		c := NewCache(p)
		s := c.Slab()
		c.Lend(s, 5)
		b := c.View(s, 0, 100)
		if first {
			c.Unlend(s, 4)
			p.Put(b)
		} else {
			p.Put(b)
			c.Unlend(s, 4)
		}
		if _, _, _, lent := p.held(); lent != 0 {
			t.Errorf("unlend first %v: %d slabs lent", first, lent)
		}
	}
}

// After a peak the pool keeps little.
func TestSlabsGoBackAfterPeak(t *testing.T) {
	p := NewPool(100)
	c := NewCache(p)
	var all []*Buf
	for range 400 {
		_, bufs := lent(t, c, 1)
		all = append(all, bufs...)
	}
	p.PutN(all[:200])
	if slabs, _, _, lent := p.held(); slabs > minSlabs+200/4 || slabs < minSlabs || lent != 200 {
		t.Errorf("half back: %d free, %d lent", slabs, lent)
	}
	p.PutN(all[200:])
	slabs, views, _, lent := p.held()
	if slabs != minSlabs || lent != 0 || views > p.max {
		t.Errorf("all back: %d slabs and %d headers free, %d lent", slabs, views, lent)
	}
	for _, s := range p.slabs.free[:cap(p.slabs.free)][slabs:] {
		if s != nil {
			t.Fatal("the pool keeps hold of a slab it gave up")
		}
	}
}

func TestViewsAllocateNothing(t *testing.T) {
	p := NewPool(1000)
	c := NewCache(p)
	s := c.Slab()
	bufs := make([]*Buf, 0, 300)
	round := func() {
		for range 6 {
			next := c.Lend(s, 50)
			for i := range 50 {
				bufs = append(bufs, c.View(s, i*1316, 1316))
			}
			s = next
		}
		p.PutN(bufs[:150])
		for _, b := range bufs[150:] {
			c.Put(b)
		}
		bufs = bufs[:0]
	}
	for range 10 { // the lists grow
		round()
	}
	if n := testing.AllocsPerRun(10, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestViewsReleasedElsewhere: one goroutine cuts slabs and releases some views,
// others check, overwrite and release the rest; the race detector watches.
func TestViewsReleasedElsewhere(t *testing.T) {
	p := NewPool(256)
	c := NewCache(p)
	const readers, slabs, n = 3, 500, 40
	var wg sync.WaitGroup
	lots := make([]chan []*Buf, readers)
	for k := range lots {
		lots[k] = make(chan []*Buf, 4)
		wg.Go(func() {
			for lot := range lots[k] {
				for _, b := range lot {
					p := b.Payload()
					if !bytes.Equal(p, bytes.Repeat(p[:1], len(p))) {
						t.Error("somebody wrote into a view")
					}
					clear(b.Bytes())
				}
				p.PutN(lot)
			}
		})
	}
	s := c.Slab()
	for range slabs {
		next := c.Lend(s, n)
		var parts [readers + 1][]*Buf
		for i := range n {
			b := c.View(s, i*1000, 1000)
			copy(b.Mem(), bytes.Repeat([]byte{byte(i)}, 1000))
			parts[i%len(parts)] = append(parts[i%len(parts)], b)
		}
		s = next
		for k := range lots {
			lots[k] <- parts[k]
		}
		for _, b := range parts[readers] {
			c.Put(b)
		}
	}
	for _, ch := range lots {
		close(ch)
	}
	wg.Wait()
	c.Flush()
	if free, _, _, lent := p.held(); lent != 0 || free > minSlabs {
		t.Errorf("%d slabs lent, %d free", lent, free)
	}
}
