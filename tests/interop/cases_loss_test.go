package interop

import (
	be "encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// C13: with a tolerance, packets that trade places with their neighbours are not
// asked for again, from the first on.
func TestC13SwapsAreNotLosses(t *testing.T) {
	t.Parallel()
	for _, from := range []program{slt, weirline} {
		t.Run(from.name, func(t *testing.T) {
			t.Parallel()
			const n = 1000
			f := field{from: from, to: weirline, callerSends: true, recvMore: "&lossmaxttl=5", media: impair.Path{Reorder: 0.05}, want: n * message}
			l := f.open(t)
			data := transportStream(13, n+padding)
			if err := pace(l.snd, data, 5e6); err != nil {
				t.Error(err)
			}
			l.sink.wait()
			l.snd.stop()
			wantPrefix(t, l.sink.bytes(), data, f.want)
			media, answers := l.stats()
			if media.Swapped < n/40 || media.Kinds[impair.Rexmit]*200 >= media.Kinds[impair.Data] {
				t.Errorf("%d swaps, %d loss reports, %d of %d packets retransmitted", media.Swapped, answers.Kinds[impair.NAK], media.Kinds[impair.Rexmit], media.Kinds[impair.Data])
			}
		})
	}
}

// C13: a loss that is held back as possible reordering is reported in time, also
// when nothing but one packet and keep-alives follow it.
func TestC13HeldBackLossIsReported(t *testing.T) {
	t.Parallel()
	for _, from := range []program{slt, weirline} {
		t.Run(from.name, func(t *testing.T) {
			t.Parallel()
			const n = 200 // a multiple of what srt-live-transmit reads at once
			const latency = time.Second
			lost := impair.Rule{Kind: impair.Data, Skip: n - 2, Count: 1}
			f := field{from: from, to: weirline, callerSends: true, recvMore: "&lossmaxttl=50", spec: spec{latency: latency}, media: impair.Path{Drop: []impair.Rule{lost}}, want: n * message}
			l := f.open(t)
			data := transportStream(13, n)
			if err := pace(l.snd, data, 200*message*8); err != nil {
				t.Error(err)
			}
			proctest.Eventually(t, "the last packet is not sent", func() bool { m, _ := l.stats(); return m.Kinds[impair.Data] >= n })
			begun := time.Now()
			proctest.Eventually(t, "the lost packet is not sent again", func() bool { m, _ := l.stats(); return m.Kinds[impair.Rexmit] > 0 })
			if took := time.Since(begun); took > latency/2+100*time.Millisecond {
				t.Errorf("the lost packet came after %v", took)
			}
			l.sink.wait()
			wantPrefix(t, l.sink.bytes(), data, f.want)
		})
	}
}

// C14: a link of 3 Mbit/s for a source of 4: once the budget for a short outage
// is spent, the sender does not drown the link in retransmissions, and the
// connection lives. A pipe that the relay holds up ends many times, and each
// time the tail may be sent again; of a libsrt sender only the life is asked.
func TestC14SlowLink(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from, to program
		most     float64 // bytes on the wire for one of source
	}{{library, slt, 1.3}, {weirline, slt, 1.4}, {slt, weirline, 0}} {
		t.Run(tc.from.name+"_sends", func(t *testing.T) {
			t.Parallel()
			f := field{from: tc.from, to: tc.to, callerSends: true, spec: spec{latency: 2 * time.Second}, want: 1 << 40}
			f.media.Rate = &impair.Rate{Bits: 3e6, Queue: 30000, Police: true}
			l := f.open(t)
			const source = 4e6
			data := transportStream(14, 2400) // 6.3 s
			first := len(data) / 3 / message * message
			if err := pace(l.snd, data[:first], source); err != nil {
				t.Error(err)
			}
			before, _ := l.stats()
			begun := time.Now()
			if err := pace(l.snd, data[first:], source); err != nil {
				t.Error(err)
			}
			media, answers := l.stats()
			most := tc.most * source / 8 * time.Since(begun).Seconds()
			if wire := float64(media.InBytes - before.InBytes); tc.most > 0 && wire > most {
				t.Errorf("%.0f bytes on the wire in %v, at most %.0f", wire, time.Since(begun), most)
			}
			if media.Kinds[impair.Conclusion] > 1 || media.Kinds[impair.Shutdown]+answers.Kinds[impair.Shutdown] > 0 {
				t.Errorf("the connection did not live: %+v, %+v", media, answers)
			}
		})
	}
}

// C09: a libsrt sender is not slowed by what our acknowledgements say of the
// receiver's buffer, at a low latency and at one that holds many packets.
func TestC09AvailableBufferLetsLibsrtSend(t *testing.T) {
	t.Parallel()
	for _, latency := range []time.Duration{120 * time.Millisecond, time.Second} {
		t.Run(latency.String(), func(t *testing.T) {
			t.Parallel()
			const n, perSecond = 4500, 1500
			f := field{from: slt, to: weirline, callerSends: true, spec: spec{latency: latency}, want: n * message}
			l := f.open(t)
			begun := time.Now()
			data := transportStream(9, n+padding)
			if err := pace(l.snd, data, perSecond*message*8); err != nil {
				t.Error(err)
			}
			l.sink.wait()
			const due = n * time.Second / perSecond
			if took := time.Since(begun); took > due*102/100+latency+300*time.Millisecond {
				t.Errorf("%d messages took %v, due in %v and the latency of %v", n, took, due, latency)
			}
			l.snd.stop()
			wantPrefix(t, l.sink.bytes(), data, f.want)
		})
	}
}

// C09: the receiver's buffer of 64 packets is full because the application does
// not read; when it reads again, the libsrt sender goes on at once.
func TestC09ReopenedBuffer(t *testing.T) {
	slt.need(t)
	t.Parallel()
	at := spec{host: "127.0.0.1", port: port.Free(t), latency: onClean}
	cfg := at.config()
	cfg.RcvBuf = 64 * (cfg.MSS - 28)
	ln, err := srtcore.Listen(t.Context(), at.addr(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	snd := slt.send(t, at)
	c, err := ln.Accept(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Abort() })
	time.Sleep(300 * time.Millisecond) // what it reads before it is connected it throws away

	var index atomic.Uint32 // of the message last given to the sender
	stop := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() {
		for i := uint32(1); ; i++ {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			b := make([]byte, message)
			be.BigEndian.PutUint32(b, i)
			if _, err := snd.Write(b); err != nil {
				return
			}
			index.Store(i)
		}
	})
	defer feeding.Wait()
	defer close(stop)

	readUntil(t, c, func(i uint32) bool { return i >= 200 })
	time.Sleep(2 * time.Second) // the application does something else
	resumed, current := time.Now(), index.Load()
	readUntil(t, c, func(i uint32) bool { return i > current })
	const readAtOnce = 20 * time.Millisecond // ten messages at a time
	if took := time.Since(resumed); took > onClean+100*time.Millisecond+readAtOnce+200*time.Millisecond {
		t.Errorf("what was sent after the application came back took %v", took)
	}
}

func readUntil(t *testing.T, c *srtcore.Conn, enough func(index uint32) bool) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(proctest.Patience))
	b := make([]byte, 2048)
	for {
		n, err := c.Read(b)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("nothing comes any more: %+v", c.Stats())
		}
		if err != nil || n != message {
			t.Fatal(fmt.Errorf("Read = %d, %w", n, err))
		}
		if enough(be.BigEndian.Uint32(b)) {
			return
		}
	}
}
