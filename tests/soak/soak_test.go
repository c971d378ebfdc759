package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/tests/lab/impair"
)

const (
	bitsPerSecond = 20e6
	shortRun      = 20 * time.Second
	latency       = 300 * time.Millisecond
	keyRefresh    = 4096 // packets: about every two seconds
)

// line is the bad line, each way.
var line = impair.Path{Loss: 0.01, Delay: 15 * time.Millisecond, Jitter: 5 * time.Millisecond, InOrder: true}

// duration is SOAK_MINUTES of make soak, else a short run.
func duration(t *testing.T) time.Duration {
	t.Helper()
	v := os.Getenv("WEIRLINE_SOAK_MINUTES")
	if v == "" {
		return shortRun
	}
	minutes, err := strconv.ParseFloat(v, 64)
	if err != nil || minutes <= 0 {
		t.Fatalf("WEIRLINE_SOAK_MINUTES=%q is no number of minutes", v)
	}
	return time.Duration(minutes * float64(time.Minute))
}

// TestSoak: encrypted, 20 Mbit/s, 1 % loss, a new key every 4096 packets.
func TestSoak(t *testing.T) {
	total := duration(t)
	before := takeSample()
	snd, rcv, done := connect(t)
	received := make(chan error, 1)
	go func() { received <- receive(rcv) }()

	watch := startWatch(total)
	sent, err := send(t, snd, total)
	if err != nil {
		t.Fatal(err)
	}
	watch.stop()
	sndStats := snd.Stats()
	if err := snd.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if err := <-received; err != nil {
		t.Error(err)
	}
	rcvStats := rcv.Stats()
	rcv.Close()
	if got := uint64(rcvStats.PktRecvUniqueTotal); got != sent {
		t.Errorf("%d messages sent, %d unique packets received", sent, got)
	}
	if n := rcvStats.PktRcvDropTotal + sndStats.PktSndDropTotal + rcvStats.PktRcvUndecryptTotal; n != 0 {
		t.Errorf("%d packets dropped or not decrypted", n)
	}
	if sndStats.PktRetransTotal == 0 {
		t.Error("nothing was retransmitted: the line was not bad")
	}
	done()
	watch.check(t)
	wantBack(t, before)
	t.Logf("%v: %d messages, %d retransmitted, %d reported lost, about %d keys", total.Round(time.Second), sent,
		sndStats.PktRetransTotal, rcvStats.PktRcvLossTotal, sent/keyRefresh+1)
}

// connect makes the connection through the relay; done ends what it started.
func connect(t *testing.T) (snd, rcv *srtcore.Conn, done func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rt, err := srtcore.NewRuntime(srtcore.RuntimeConfig{})
	if err != nil {
		t.Fatal(err)
	}
	cfg := srtcore.DefaultConfig()
	cfg.Runtime = rt
	cfg.RcvLatency, cfg.PeerLatency = latency, latency
	cfg.Passphrase, cfg.PBKeyLen = "a soak needs a secret", 16
	cfg.KMRefreshRate, cfg.KMPreAnnounce = keyRefresh, keyRefresh/4
	l, err := srtcore.Listen(ctx, "127.0.0.1:0", &cfg)
	if err != nil {
		t.Fatal(err)
	}
	relay, err := impair.Start(impair.Config{Target: l.Addr().String(), Seed: 1, Up: line, Down: line})
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() {
		var err error
		rcv, err = l.Accept(ctx)
		accepted <- err
	}()
	if snd, err = srtcore.Dial(ctx, relay.Addr(), &cfg); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; err != nil {
		t.Fatal(err)
	}
	return snd, rcv, func() {
		l.Close()
		relay.Close()
		if err := rt.Close(); err != nil {
			t.Errorf("closing the runtime: %v", err)
		}
	}
}

// send sends numbered messages at the rate and returns how many; once a minute it
// says how far it is.
func send(t *testing.T, c *srtcore.Conn, total time.Duration) (uint64, error) {
	msg := make([]byte, messageSize)
	perSecond := bitsPerSecond / 8 / messageSize
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	n, start, minute := uint64(0), time.Now(), time.Minute
	for {
		at := time.Since(start)
		if at >= total {
			return n, nil
		}
		for due := uint64(at.Seconds() * perSecond); n < due; n++ {
			build(msg, n)
			if _, err := c.Write(msg); err != nil {
				return n, fmt.Errorf("message %d: %w", n, err)
			}
		}
		if at >= minute {
			t.Logf("%v of %v: %d messages", at.Round(time.Second), total, n)
			minute += time.Minute
		}
		<-tick.C
	}
}

// receive checks every message until the sender closes.
func receive(c *srtcore.Conn) error {
	bufs := make([][]byte, 64)
	for want := uint64(0); ; {
		for i := range bufs {
			if bufs[i] == nil {
				bufs[i] = make([]byte, 0, 2048)
			}
			bufs[i] = bufs[i][:0]
		}
		n, err := c.ReadBatch(bufs)
		for _, b := range bufs[:n] {
			if err := check(b, want); err != nil {
				return err
			}
			want++
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after %d messages: %w", want, err)
		}
	}
}
