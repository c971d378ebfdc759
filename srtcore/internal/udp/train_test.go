package udp

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

func outOf(to, from string, sizes ...int) []dgram.Out {
	var out []dgram.Out
	for _, n := range sizes {
		o := dgram.Out{Data: make([]byte, n), To: netip.MustParseAddrPort(to)}
		if from != "" {
			o.From = netip.MustParseAddr(from)
		}
		out = append(out, o)
	}
	return out
}

func TestPlanTrains(t *testing.T) {
	const a, b = "127.0.0.1:1", "127.0.0.1:2"
	same := func(n, size int) []int { return slices.Repeat([]int{size}, n) }
	for _, c := range []struct {
		name  string
		out   []dgram.Out
		noGSO bool
		room  int // trains; 0: plenty
		limit int // datagrams; 0: plenty
		want  []int
	}{
		{name: "nothing"},
		{name: "one", out: outOf(a, "", 100), want: []int{1}},
		{name: "equal sizes", out: outOf(a, "", 100, 100, 100), want: []int{3}},
		{name: "last shorter", out: outOf(a, "", 100, 100, 40), want: []int{3}},
		{name: "a shorter one ends the train", out: outOf(a, "", 100, 40, 100, 100), want: []int{2, 2}},
		{name: "two shorter ones", out: outOf(a, "", 100, 40, 40), want: []int{2, 1}},
		{name: "a longer one begins a train", out: outOf(a, "", 40, 100, 100), want: []int{1, 2}},
		{name: "empty ones stay alone", out: outOf(a, "", 100, 0, 0, 100), want: []int{1, 1, 1, 1}},
		{name: "another peer", out: slices.Concat(outOf(a, "", 9, 9), outOf(b, "", 9, 9)), want: []int{2, 2}},
		{name: "interleaved peers", out: slices.Concat(outOf(a, "", 9), outOf(b, "", 9), outOf(a, "", 9)), want: []int{1, 1, 1}},
		{name: "another source", out: slices.Concat(outOf(a, "127.0.0.1", 9), outOf(a, "127.0.0.2", 9, 9)), want: []int{1, 2}},
		{name: "source or none", out: slices.Concat(outOf(a, "127.0.0.1", 9), outOf(a, "", 9)), want: []int{1, 1}},
		{name: "64 segments", out: outOf(a, "", same(130, 16)...), want: []int{64, 64, 2}},
		{name: "65,000 bytes", out: outOf(a, "", same(50, 1332)...), want: []int{48, 2}},
		{name: "huge", out: outOf(a, "", 60000, 60000), want: []int{1, 1}},
		{name: "longer than any datagram", out: outOf(a, "", 70000, 70000), want: []int{1, 1}},
		{name: "without GSO", out: outOf(a, "", 9, 9, 9), noGSO: true, want: []int{1, 1, 1}},
		{name: "few messages", out: outOf(a, "", 9, 10, 11), room: 2, want: []int{1, 1}},
		{name: "few datagrams", out: outOf(a, "", 9, 9, 9, 9), limit: 3, want: []int{3}},
		{name: "few datagrams in the second train", out: outOf(a, "", 9, 8, 9, 9, 9), limit: 4, want: []int{2, 2}},
		{name: "few datagrams without GSO", out: outOf(a, "", 9, 9, 9, 9), noGSO: true, limit: 3, want: []int{1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			room, limit := c.room, c.limit
			if room == 0 {
				room = 100
			}
			if limit == 0 {
				limit = 1000
			}
			plan := planTrains(make([]train, 0, room), c.out, !c.noGSO, limit)
			var got []int
			next := 0
			for _, tr := range plan {
				if tr.first != next {
					t.Fatalf("train begins at %d, want %d", tr.first, next)
				}
				next += tr.count
				got = append(got, tr.count)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("trains %v, want %v", got, c.want)
			}
			if n := datagrams(plan); n != next {
				t.Errorf("datagrams %d, want %d", n, next)
			}
		})
	}
}

func TestSegments(t *testing.T) {
	for _, c := range []struct {
		n, stride int
		want      []int
	}{
		{0, 0, []int{0}},
		{1, 0, []int{1}},
		{1332, 0, []int{1332}},
		{1332, 1332, []int{1332}},
		{100, 1332, []int{100}},
		{300, 100, []int{100, 100, 100}},
		{301, 100, []int{100, 100, 100, 1}},
		{299, 100, []int{100, 100, 99}},
		{5, 1, []int{1, 1, 1, 1, 1}},
		{10, -1, []int{10}},
	} {
		msg := payload(c.n, c.n)
		var got []int
		var joined []byte
		for i := range segments(c.n, c.stride) {
			s := segment(msg, c.stride, i)
			got = append(got, len(s))
			joined = append(joined, s...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d bytes by %d: %v, want %v", c.n, c.stride, got, c.want)
		}
		if !bytes.Equal(joined, msg) {
			t.Errorf("%d bytes by %d: the pieces are not the whole", c.n, c.stride)
		}
	}
}

func TestViews(t *testing.T) {
	for _, c := range []struct{ n, stride, want int }{
		{0, 0, 0},
		{50000, 0, 0},                   // no train
		{viewBytes, 1332, 25},           // 24.6 datagrams
		{viewBytes - 1, 1332, 0},        // too little to hold a slab for
		{60 * 600, 600, 60},             //
		{60*600 + 15, 600, 60},          // the rest has no room for a header
		{60*600 + 16, 600, 61},          //
		{40000, dgram.HeaderSize, 2500}, //
		{40000, dgram.HeaderSize - 1, 0},
		{44160, dgram.Size, 30},
		{44160, dgram.Size + 1, 0},
		{40000, -5, 0},
	} {
		if got := views(c.n, c.stride); got != c.want {
			t.Errorf("%d bytes by %d: %d views, want %d", c.n, c.stride, got, c.want)
		}
	}
}
