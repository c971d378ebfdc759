package dgram_test

import (
	"sync"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

func wantPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// distinct fails if a Buf has two owners.
func distinct(t *testing.T, bufs []*dgram.Buf) {
	t.Helper()
	seen := make(map[*dgram.Buf]bool)
	for _, b := range bufs {
		if b == nil || seen[b] {
			t.Fatalf("Buf %p handed out twice", b)
		}
		seen[b] = true
	}
}

func TestPoolReuses(t *testing.T) {
	p := dgram.NewPool(1)
	a, b := p.Get(), p.Get()
	distinct(t, []*dgram.Buf{a, b})
	p.Put(a)
	p.Put(b) // one too many, to the garbage collector
	if got := p.Get(); got != a {
		t.Error("the kept Buf does not come back")
	}
	if got := p.Get(); got == a || got == b {
		t.Error("more Bufs kept than allowed")
	}
}

func TestPoolLots(t *testing.T) {
	p := dgram.NewPool(100)
	bufs := make([]*dgram.Buf, 10)
	p.GetN(bufs)
	distinct(t, bufs)
	p.PutN(bufs)
	again := make([]*dgram.Buf, 20)
	p.GetN(again)
	distinct(t, again)
	old := make(map[*dgram.Buf]bool)
	for _, b := range bufs {
		old[b] = true
	}
	reused := 0
	for _, b := range again {
		if old[b] {
			reused++
		}
	}
	if reused != 10 {
		t.Errorf("%d of 10 Bufs came back", reused)
	}
}

func TestDoubleReleasePanics(t *testing.T) {
	p := dgram.NewPool(4)
	b := p.Get()
	p.Put(b)
	wantPanic(t, "Pool.Put", func() { p.Put(b) })
	wantPanic(t, "Pool.PutN", func() { p.PutN([]*dgram.Buf{b}) })
	c := dgram.NewCache(p)
	d := c.Get()
	c.Put(d)
	wantPanic(t, "Cache.Put", func() { c.Put(d) })
	wantPanic(t, "Pool.Put after Cache.Put", func() { p.Put(d) })
	p.Put(new(dgram.Buf)) // the pool survived
}

func TestCacheReuses(t *testing.T) {
	p := dgram.NewPool(1000)
	c := dgram.NewCache(p)
	c.Put(nil)
	var bufs []*dgram.Buf
	for range 300 {
		bufs = append(bufs, c.Get())
	}
	distinct(t, bufs)
	for _, b := range bufs {
		c.Put(b)
	}
	c.Flush()
	again := make([]*dgram.Buf, 1000) // all there are, and new ones
	p.GetN(again)
	distinct(t, again)
	back := make(map[*dgram.Buf]bool)
	for _, b := range again {
		back[b] = true
	}
	for _, b := range bufs {
		if !back[b] {
			t.Fatal("a Buf was lost between Cache and Pool")
		}
	}
}

func TestCacheAllocations(t *testing.T) {
	c := dgram.NewCache(dgram.NewPool(1000))
	c.Put(c.Get())
	bufs := make([]*dgram.Buf, 0, 300)
	if n := testing.AllocsPerRun(10, func() {
		for range 300 {
			bufs = append(bufs, c.Get())
		}
		for _, b := range bufs {
			c.Put(b)
		}
		bufs = bufs[:0]
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPoolShared moves Bufs between caches of several goroutines; the race
// detector and the ownership check watch.
func TestPoolShared(t *testing.T) {
	p := dgram.NewPool(256)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			c := dgram.NewCache(p)
			for i := range 2000 {
				a, b := c.Get(), c.Get()
				a.SetPayload([]byte{byte(i)})
				c.Put(a)
				p.Put(b)
			}
			c.Flush()
		})
	}
	wg.Wait()
}
