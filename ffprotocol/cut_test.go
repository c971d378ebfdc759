package ffprotocol

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// packets is n MPEG-TS packets, each of another content.
func packets(n int) []byte {
	b := make([]byte, n*tsPacket)
	for i := range b {
		b[i] = byte(i / tsPacket)
		if i%tsPacket == 0 {
			b[i] = tsSync
		}
	}
	return b
}

// cutAll feeds a stream in pieces and returns copies of the messages.
func cutAll(c *cutter, limit int, pieces ...[]byte) (out [][]byte) {
	for _, p := range pieces {
		for _, m := range c.cut(limit, p, nil) {
			out = append(out, bytes.Clone(m))
		}
	}
	return out
}

func sizes(ms [][]byte) (out []int) {
	for _, m := range ms {
		out = append(out, len(m))
	}
	return out
}

func TestCut(t *testing.T) {
	other := append([]byte("FLV"), make([]byte, 5000)...)
	ts := packets(100)
	for _, c := range []struct {
		name   string
		limit  int
		pieces [][]byte
		want   []int
		rest   int
	}{
		{"whole messages", 1316, [][]byte{ts[:2632]}, []int{1316, 1316}, 0},
		{"a shorter tail is sent at once", 1316, [][]byte{ts[:1880], ts[1880:2068]}, []int{1316, 564, 188}, 0},
		{"a packet in two writes", 1316, [][]byte{ts[:200], ts[200:376]}, []int{188, 188}, 0},
		{"a packet in many writes", 1316, [][]byte{ts[:1], ts[1:100], ts[100:187], ts[187:188]}, []int{188}, 0},
		{"32768, no multiple of 188", 32768 / 10, [][]byte{ts[:3276]}, []int{3196}, 80},
		{"held back, then full", 1316, [][]byte{ts[:100], ts[100:4000]}, []int{1316, 1316, 1316}, 52},
		{"room for less than seven", 1300, [][]byte{ts[:1316]}, []int{1128, 188}, 0},
		{"room for more than seven", 1456, [][]byte{ts[:1504]}, []int{1316, 188}, 0},
		{"no room for a packet", 100, [][]byte{ts[:188]}, []int{100, 88}, 0},
		{"not MPEG-TS", 1456, [][]byte{other[:3000]}, []int{1456, 1456, 88}, 0},
		{"no longer MPEG-TS", 1316, [][]byte{ts[:288], other[:100]}, []int{188, 200}, 0},
		{"nothing", 1316, [][]byte{nil, {}}, nil, 0},
	} {
		var cut cutter
		got := cutAll(&cut, c.limit, c.pieces...)
		if fmt.Sprint(sizes(got)) != fmt.Sprint(c.want) || len(cut.held) != c.rest {
			t.Errorf("%s: messages of %v, %d held back; want %v, %d", c.name, sizes(got), len(cut.held), c.want, c.rest)
		}
		all := bytes.Join(append(got, cut.rest(nil)...), nil)
		if !bytes.Equal(all, bytes.Join(c.pieces, nil)) {
			t.Errorf("%s: the content differs", c.name)
		}
	}
}

// However a stream is handed over, the messages hold whole packets.
func TestCutAnyhow(t *testing.T) {
	ts := packets(500)
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		limit := tsPacket + rng.IntN(1300)
		var pieces [][]byte
		for left := ts; len(left) > 0; {
			n := min(1+rng.IntN(5000), len(left))
			if rng.IntN(2) == 0 {
				n = min(1+rng.IntN(300), len(left))
			}
			pieces = append(pieces, left[:n])
			left = left[n:]
		}
		var cut cutter
		got := cutAll(&cut, limit, pieces...)
		for _, m := range got {
			if len(m) > limit || len(m)%tsPacket != 0 || m[0] != tsSync {
				t.Fatalf("seed %d: a message of %d bytes, limit %d, begins with %#x", seed, len(m), limit, m[0])
			}
		}
		if !bytes.Equal(bytes.Join(got, nil), ts) || len(cut.held) != 0 {
			t.Fatalf("seed %d: the content differs", seed)
		}
	}
}
