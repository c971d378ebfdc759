package engine

import (
	"crypto/rand"
	"net/netip"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/mono"
)

// crowd is two Endpoints with many connections between them, driven as a loop
// drives them: all of a turn's datagrams, then all that they touched.
type crowd struct {
	now      mono.Time
	cache    *dgram.Cache
	ends     [2]*Endpoint
	addrs    [2]netip.AddrPort
	conns    [2][]*Conn
	touched  [2][]*Conn
	batch    dgram.Batch
	messages []Message
	received int
}

func newCrowd(t testing.TB, n int) *crowd {
	w := &crowd{now: mono.Time(time.Hour), cache: dgram.NewCache(dgram.NewPool(16 * n)), messages: make([]Message, 0, 64)}
	cfg := DefaultConfig()
	for i := range w.ends {
		w.ends[i] = NewEndpoint(EndpointConfig{Rand: rand.Reader, Cache: w.cache})
		w.addrs[i] = netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 9000)
	}
	w.ends[1].Listen(&cfg, n)
	for range n {
		c := w.ends[0].Dial(w.now, &cfg, w.addrs[1])
		w.conns[0] = append(w.conns[0], c)
		w.touched[0] = append(w.touched[0], c)
	}
	for range 10 {
		w.turn()
	}
	if len(w.conns[1]) != n {
		t.Fatalf("%d of %d connections", len(w.conns[1]), n)
	}
	return w
}

// turn drains what was touched, at both ends, and lets a millisecond pass.
func (w *crowd) turn() {
	for range 2 {
		w.drain(0)
		w.drain(1)
	}
	w.now = w.now.Add(time.Millisecond)
}

func (w *crowd) drain(i int) {
	w.batch.Reset()
	w.ends[i].PollTransmit(w.now, &w.batch)
	for ev, ok := w.ends[i].PollEvent(); ok; ev, ok = w.ends[i].PollEvent() {
		c, _ := w.ends[i].Accept(w.now, ev.Request, &w.ends[i].lis.cfg)
		w.conns[i] = append(w.conns[i], c)
		w.touched[i] = append(w.touched[i], c)
	}
	for _, c := range w.touched[i] {
		c.PollTransmit(w.now, &w.batch)
		w.messages = c.PollMessages(w.now, w.messages[:0])
		for _, m := range w.messages {
			w.received++
			w.cache.Put(m.Buf)
		}
		c.PollEvent()
		c.PollTimeout()
	}
	w.touched[i] = w.touched[i][:0]
	for _, list := range [][]dgram.Out{w.batch.Control, w.batch.Data} {
		for _, o := range list {
			b := w.cache.Get()
			b.Reset(copy(b.Mem(), o.Data))
			if c := w.ends[1-i].HandleDatagram(w.now, dgram.In{Buf: b, From: w.addrs[i]}); c != nil {
				w.touched[1-i] = append(w.touched[1-i], c)
			}
		}
	}
}

// serve passes one short message through n connections from the given one on;
// as many receivers come to the deadline of an older one.
func (w *crowd) serve(at, n int) {
	for k := range n {
		c := w.conns[0][(at+k)%len(w.conns[0])]
		b := w.cache.Get()
		b.Reset(dgram.HeaderSize + 100)
		c.HandleTimeout(w.now)
		c.Send(w.now, b, w.now)
		w.touched[0] = append(w.touched[0], c)
		r := w.conns[1][(at+k+len(w.conns[1])/2)%len(w.conns[1])]
		r.HandleTimeout(w.now)
		w.touched[1] = append(w.touched[1], r)
	}
	w.turn()
}

// BenchmarkColdVisit is what the protocol costs a loop with hundreds of
// connections: 30 of 240 have a packet each millisecond, and nothing of them is
// in the caches, since a CPU that was halted has lost them to others.
func BenchmarkColdVisit(b *testing.B) {
	const conns, lot = 240, 30
	w := newCrowd(b, conns)
	at := 0
	for range 400 { // beyond the latency
		w.serve(at, lot)
		at += lot
	}
	other := make([]byte, 64<<20) // what others do with the caches
	visits := 0
	var spent time.Duration
	for b.Loop() {
		for i := 0; i < len(other); i += 64 {
			other[i]++
		}
		begin := time.Now()
		w.serve(at, lot)
		spent += time.Since(begin)
		at += lot
		visits += lot
	}
	if w.received < visits {
		b.Fatalf("%d messages of %d", w.received, visits)
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(visits), "ns/packet")
	b.ReportMetric(0, "ns/op")
}
