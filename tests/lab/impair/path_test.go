package impair

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// walk sends n numbered datagrams of 1000 bytes through a path, one each step,
// and returns the numbers in the order they come out and when.
func walk(t *testing.T, cfg Path, n int, step time.Duration) (*path, []uint32, []time.Duration) {
	t.Helper()
	p := newPath(cfg, 7, 1)
	var q queue
	var order []uint32
	var times []time.Duration
	drain := func(now time.Duration) {
		for it := q.head(); it != nil && it.due <= now; it = q.head() {
			at := it.due
			for _, it := range q.popDue(at, nil) {
				order = append(order, binary.BigEndian.Uint32(it.data[4:]))
				times = append(times, at)
				p.leaves(it)
				q.put(it)
			}
		}
	}
	for i := range n {
		now := time.Duration(i) * step
		drain(now)
		data := make([]byte, 1000)
		binary.BigEndian.PutUint32(data[4:], uint32(i)&^(0x04<<24))
		p.take(now, &q, data, func(*item) {})
	}
	drain(time.Duration(math.MaxInt64))
	if got := uint64(len(order)); got != p.stats.Out {
		t.Errorf("%d came out, counted %d", got, p.stats.Out)
	}
	return p, order, times
}

func TestCleanPathKeepsEverything(t *testing.T) {
	_, order, times := walk(t, Path{Delay: 40 * time.Millisecond}, 1000, time.Millisecond)
	if len(order) != 1000 {
		t.Fatalf("%d of 1000 came out", len(order))
	}
	for i := range order {
		if want := time.Duration(i)*time.Millisecond + 40*time.Millisecond; order[i] != uint32(i) || times[i] != want {
			t.Fatalf("datagram %d at %v, want %d at %v", order[i], times[i], i, want)
		}
	}
}

func TestLossIsAsOftenAsAsked(t *testing.T) {
	for _, loss := range []float64{0.01, 0.1, 0.3} {
		p, order, _ := walk(t, Path{Loss: loss}, 20000, time.Millisecond)
		got := float64(p.stats.Lost) / 20000
		if math.Abs(got-loss) > 0.25*loss || len(order)+int(p.stats.Lost) != 20000 {
			t.Errorf("loss %g: lost %g, %d came out", loss, got, len(order))
		}
	}
}

func TestSameSeedSameFate(t *testing.T) {
	cfg := Path{Loss: 0.05, Reorder: 0.05, Duplicate: 0.01, Jitter: 5 * time.Millisecond}
	_, a, _ := walk(t, cfg, 2000, time.Millisecond)
	_, b, _ := walk(t, cfg, 2000, time.Millisecond)
	if len(a) != len(b) {
		t.Fatalf("%d and %d came out", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("position %d: %d and %d", i, a[i], b[i])
		}
	}
}

func TestBurstsComeTogether(t *testing.T) {
	p, order, _ := walk(t, Path{Burst: &Burst{ToBad: 0.01, ToGood: 0.25, LossBad: 1}}, 50000, time.Millisecond)
	runs := 0
	for i := 1; i < len(order); i++ {
		if order[i] != order[i-1]+1 {
			runs++
		}
	}
	mean := float64(p.stats.Lost) / float64(runs)
	if mean < 3 || mean > 5 {
		t.Errorf("%d lost in %d bursts: %.1f each, want about 4", p.stats.Lost, runs, mean)
	}
}

func TestReorderSwapsNeighbours(t *testing.T) {
	p, order, _ := walk(t, Path{Reorder: 0.05}, 10000, time.Millisecond)
	swaps := 0
	for i := range order {
		switch d := int(order[i]) - i; {
		case d == 1 && i+1 < len(order) && order[i+1] == uint32(i):
			swaps++
		case d < -1 || d > 1:
			t.Fatalf("position %d holds %d", i, order[i])
		}
	}
	if swaps < 400 || swaps > 600 || uint64(swaps) != p.stats.Swapped {
		t.Errorf("%d swaps seen, %d counted, want about 500", swaps, p.stats.Swapped)
	}
}

func TestHeldDatagramDoesNotWaitForEver(t *testing.T) {
	_, order, times := walk(t, Path{Reorder: 1}, 1, time.Millisecond)
	if len(order) != 1 || times[0] != swapWait {
		t.Fatalf("out: %v at %v, want one at %v", order, times, swapWait)
	}
}

func TestDuplicatesAreCopies(t *testing.T) {
	p, order, _ := walk(t, Path{Duplicate: 0.1}, 10000, time.Millisecond)
	if d := p.stats.Duplicated; d < 900 || d > 1100 || len(order) != 10000+int(d) {
		t.Errorf("%d duplicates, %d came out", d, len(order))
	}
}

func TestShapingSpreadsAndBounds(t *testing.T) {
	// 1000 bytes each millisecond are 8 Mbit/s; the line takes 4.
	p, order, times := walk(t, Path{Rate: &Rate{Bits: 4e6, Queue: 10000}}, 2000, time.Millisecond)
	if len(order) < 990 || len(order) > 1020 || p.stats.OverRate != uint64(2000-len(order)) {
		t.Errorf("%d came out, %d over rate", len(order), p.stats.OverRate)
	}
	for i := 1; i < len(times); i++ {
		if gap := times[i] - times[i-1]; gap < 1999*time.Microsecond {
			t.Fatalf("gap %v before position %d, the line needs 2ms", gap, i)
		}
	}
}

func TestPolicingDropsWithoutDelay(t *testing.T) {
	p, order, times := walk(t, Path{Rate: &Rate{Bits: 4e6, Queue: 10000, Police: true}}, 2000, time.Millisecond)
	if len(order) < 990 || len(order) > 1030 || p.stats.OverRate == 0 {
		t.Errorf("%d came out, %d over rate", len(order), p.stats.OverRate)
	}
	for i, n := range order {
		if times[i] != time.Duration(n)*time.Millisecond {
			t.Fatalf("datagram %d delayed to %v", n, times[i])
		}
	}
}

func TestInOrderJitterDoesNotOvertake(t *testing.T) {
	_, order, times := walk(t, Path{Jitter: 30 * time.Millisecond, InOrder: true}, 1000, time.Millisecond)
	for i := range order {
		if order[i] != uint32(i) {
			t.Fatalf("position %d holds %d", i, order[i])
		}
	}
	if times[999] == 999*time.Millisecond {
		t.Error("no jitter at all")
	}
}

func TestSizeCapAndRules(t *testing.T) {
	p, order, _ := walk(t, Path{MaxSize: 999}, 10, time.Millisecond)
	if len(order) != 0 || p.stats.Oversize != 10 {
		t.Errorf("cap: %d came out, %d oversize", len(order), p.stats.Oversize)
	}
	p, order, _ = walk(t, Path{Drop: []Rule{{Kind: Data, Skip: 2, Count: 3}, {Kind: ACK}}}, 10, time.Millisecond)
	if len(order) != 7 || p.stats.Ruled != 3 || order[2] != 5 {
		t.Errorf("rule: %v came out, %d ruled", order, p.stats.Ruled)
	}
}

func TestClassify(t *testing.T) {
	control := func(typ, sub uint16, words ...uint32) []byte {
		b := make([]byte, headerSize)
		binary.BigEndian.PutUint16(b, 0x8000|typ)
		binary.BigEndian.PutUint16(b[2:], sub)
		for _, w := range words {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		return b
	}
	handshake := func(t uint32) []byte { return control(0, 0, 5, 0, 0, 1500, 8192, t, 0, 0, 0, 0, 0, 0) }
	data := make([]byte, 20)
	rexmit := make([]byte, 20)
	rexmit[4] = 0xC4 // PP solo, R
	for _, c := range []struct {
		b    []byte
		want Kind
	}{
		{nil, Other}, {make([]byte, 15), Other}, {data, Data}, {rexmit, Rexmit},
		{handshake(1), Induction}, {handshake(0xFFFFFFFF), Conclusion}, {handshake(1010), Rejection},
		{handshake(0), Other}, {control(0, 0, 5), Other},
		{control(1, 0, 0), KeepAlive}, {control(2, 0, 1), ACK}, {control(3, 0, 1), NAK}, {control(5, 0), Shutdown},
		{control(6, 0), ACKACK}, {control(7, 0, 1, 1), DropReq}, {control(8, 0), Other},
		{control(0x7FFF, 3, 1), KMReq}, {control(0x7FFF, 4, 1), KMRsp}, {control(0x7FFF, 9), Other},
	} {
		if got := Classify(c.b); got != c.want {
			t.Errorf("Classify(%x) = %v, want %v", c.b, got, c.want)
		}
	}
	if s := KMRsp.String() + Kind(200).String(); s != "kmrspunknown" {
		t.Errorf("names: %q", s)
	}
}
