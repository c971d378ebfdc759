package interop

import (
	"fmt"
	"testing"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/proctest"
)

// C08: a message is one packet, at any size that fits and whatever the receiver
// would send itself, and the smaller MSS of the two sides counts.
func TestC08PayloadSizes(t *testing.T) {
	t.Parallel()
	for i, tc := range []struct {
		size               int
		sendMore, recvMore string
	}{
		{size: 1}, {size: 188}, {size: 1316}, {size: 1328}, {size: 1456},
		{size: 1316, sendMore: "&mss=1360"}, {size: 1316, recvMore: "&mss=1360"},
	} {
		for j, f := range []field{{from: weirline, to: slt}, {from: slt, to: weirline}} {
			f.callerSends = (i+j)%2 == 0
			f.sendMore = tc.sendMore + fmt.Sprintf("&payloadsize=%d", tc.size)
			f.recvMore = tc.recvMore
			t.Run(fmt.Sprintf("%d%s%s_%s_sends", tc.size, tc.sendMore, tc.recvMore, f.from.name), func(t *testing.T) {
				t.Parallel()
				f.payloads(t, tc.size)
			})
		}
	}
}

func (f field) payloads(t *testing.T, size int) {
	const n = 100
	f.want = n * size
	data := noise((n + padding) * size)
	f.spec.cut = size
	if f.from.ours {
		data = data[:f.want]
		f.spec.cut = 1456 // what srt-live-transmit receives at most
	}
	l := f.open(t)
	if err := paceBy(l.snd, data, size, 200*float64(size)*8); err != nil {
		t.Error(err)
	}
	if f.from.ours {
		l.finish(t, l.snd, l.rcv)
		if sent := l.packets(); sent != n {
			t.Errorf("%d packets carried %d messages of %d bytes", sent, n, size)
		}
	} else { // at its end it sends what it still holds
		proctest.Eventually(t, "not every packet is a message", func() bool { return l.packets() >= n && l.packets()*size == len(l.sink.bytes()) })
		l.finish(t, l.snd, l.rcv)
	}
	wantPrefix(t, l.sink.bytes(), data, f.want)
}

// packets counts the data packets that set out.
func (l *live) packets() int {
	media, _ := l.stats()
	return int(media.Kinds[impair.Data])
}
