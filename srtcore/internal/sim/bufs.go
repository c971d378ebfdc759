package sim

import (
	"sync"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

// bufPool is a Pool whose Bufs are known, so that a test can say which did not
// come back. The Bufs are shared by all Worlds, one after the other.
type bufPool struct {
	pool  *dgram.Pool
	known map[*dgram.Buf]bool
}

// poolSize is more than a pair of full buffers holds in the usual test.
const poolSize = 4096

var spare struct {
	sync.Mutex
	pools []*bufPool
}

func newBufPool() *bufPool {
	spare.Lock()
	defer spare.Unlock()
	if n := len(spare.pools); n > 0 {
		p := spare.pools[n-1]
		spare.pools = spare.pools[:n-1]
		return p
	}
	p := &bufPool{dgram.NewPool(1 << 20), make(map[*dgram.Buf]bool)}
	for range poolSize {
		b := new(dgram.Buf)
		b.Reset(1)
		p.known[b] = true
		p.pool.Put(b)
	}
	return p
}

// missing takes everything out of the pool, counts the known Bufs that are not
// there and puts all back. A Buf the Pool had to make has no length; every used
// one has.
func (p *bufPool) missing() int {
	var out []*dgram.Buf
	n := 0
	for {
		b := p.pool.Get()
		if b.Len() == 0 && !p.known[b] {
			break
		}
		if p.known[b] {
			n++
		}
		out = append(out, b)
	}
	for _, b := range out {
		b.Reset(1)
		if p.known[b] {
			p.pool.Put(b)
		}
	}
	return poolSize - n
}

// wantBufsBack fails the test if a Buf has not come back to the pool.
func (w *World) wantBufsBack(tb testing.TB) {
	tb.Helper()
	for _, n := range w.nodes {
		if h, ok := n.(*Host); ok {
			h.cache.Flush()
		}
	}
	if n := w.pool.missing(); n != 0 {
		tb.Errorf("%d datagram buffers did not come back (seed %d)", n, w.Seed)
		return
	}
	spare.Lock()
	spare.pools = append(spare.pools, w.pool)
	spare.Unlock()
	w.pool = newBufPool()
}
