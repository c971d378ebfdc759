package dgram_test

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

var (
	peer  = netip.MustParseAddrPort("192.0.2.1:9000")
	local = netip.MustParseAddr("192.0.2.2")
)

func TestBatch(t *testing.T) {
	var b dgram.Batch
	copy(b.AddControl(4, peer, local), "ctrl")
	b.AddData([]byte("data"), peer, netip.Addr{})
	if b.Len() != 2 {
		t.Errorf("Len = %d", b.Len())
	}
	if c := b.Control[0]; string(c.Data) != "ctrl" || c.To != peer || c.From != local {
		t.Errorf("control %+v", c)
	}
	if d := b.Data[0]; string(d.Data) != "data" || d.To != peer || d.From.IsValid() {
		t.Errorf("data %+v", d)
	}
	b.Reset()
	if b.Len() != 0 {
		t.Errorf("Len after Reset = %d", b.Len())
	}
	if b.Control[:1][0].Data != nil || b.Data[:1][0].Data != nil {
		t.Error("Reset keeps hold of old datagrams")
	}
}

// TestBatchArena: packets keep their bytes when the arena runs full, and one
// packet cannot be appended to into the next.
func TestBatchArena(t *testing.T) {
	var b dgram.Batch
	const n, size = 200, 1000 // several arenas
	for i := range n {
		p := b.AddControl(size, peer, local)
		if len(p) != size || cap(p) != size {
			t.Fatalf("packet %d: length %d, capacity %d", i, len(p), cap(p))
		}
		for j := range p {
			p[j] = byte(i)
		}
	}
	for i, c := range b.Control {
		if !bytes.Equal(c.Data, bytes.Repeat([]byte{byte(i)}, size)) {
			t.Fatalf("packet %d was overwritten", i)
		}
	}
	if big := b.AddControl(100_000, peer, local); len(big) != 100_000 {
		t.Errorf("big packet: %d bytes", len(big))
	}
}

func TestBatchAllocations(t *testing.T) {
	var b dgram.Batch
	data := make([]byte, 1332)
	fill := func() {
		for range 100 {
			b.AddControl(44, peer, local)
			b.AddData(data, peer, local)
		}
		b.Reset()
	}
	fill()
	if n := testing.AllocsPerRun(10, fill); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
