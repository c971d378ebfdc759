package mpegts

import (
	"encoding/json"
	"math"
	"math/rand"
	"slices"
	"sync"
	"testing"
	"time"
)

// feedFrames feeds a made stream at its own speed, each frame later by what late
// says, and returns the report at its end.
func feedFrames(t *testing.T, n, size int, late func(i int) time.Duration) Report {
	t.Helper()
	h, c := newHealth()
	b := frames(t, n)
	var at []time.Time
	var starts []int
	for i := 0; i < len(b); i += PacketSize {
		if _, ok := pcr(b[i:i+PacketSize], headOf(b[i:])); ok {
			k := len(at)
			at = append(at, epoch.Add(time.Duration(k)*40*time.Millisecond+late(k)))
			starts = append(starts, i)
		}
	}
	starts[0] = 0
	starts = append(starts, len(b))
	for i := range at {
		h.Feed(cut(b[starts[i]:starts[i+1]], size), at[i])
		c.t = at[i]
	}
	return h.Report()
}

func near(got, want, part float64) bool { return math.Abs(got-want) <= want*part }

func TestHealthyStream(t *testing.T) {
	for _, size := range []int{1316, 188, 1456, 1000, 375, 187, 50, 1} {
		r := feedFrames(t, 100, size, func(int) time.Duration { return 0 })
		if r.Format != TS || r.SyncLosses+r.ContinuityErrors+r.TransportErrors+r.TableErrors+r.ClockErrors+r.StrayBytes != 0 {
			t.Errorf("size %d: %+v", size, r)
		}
		if !r.PATPresent || !r.PMTPresent || *r.PATAgeMs > 1000 || *r.PMTAgeMs != *r.PATAgeMs {
			t.Errorf("size %d: tables: %v %v", size, r.PATPresent, r.PMTPresent)
		}
		bps := float64(len(frames(t, 100))) * 8 / 4
		if !near(r.Bitrate, bps, 0.05) || !near(r.PCRBitrate, bps, 0.05) {
			t.Errorf("size %d: bitrate %v, by the clock %v, want %v", size, r.Bitrate, r.PCRBitrate, bps)
		}
		if !near(r.PCRIntervalMs, 40, 1e-6) || !near(r.PCRMaxIntervalMs, 40, 1e-6) || r.PCRJitterMs > 1e-6 {
			t.Errorf("size %d: clock every %v ms, at most %v, jitter %v", size, r.PCRIntervalMs, r.PCRMaxIntervalMs, r.PCRJitterMs)
		}
		want := []StreamReport{{videoPID, 0x1b, "H264 Video"}, {audioPID, 0x0f, "AAC Audio"}}
		if len(r.Programs) != 1 || r.Programs[0].PCRPID != videoPID || !slices.Equal(r.Programs[0].Streams, want) {
			t.Errorf("size %d: programs %+v", size, r.Programs)
		}
	}
}

func TestJitterOfTheClockAgainstArrival(t *testing.T) {
	r := feedFrames(t, 200, 1316, func(i int) time.Duration { return time.Duration(i%2) * 5 * time.Millisecond })
	if !near(r.PCRJitterMs, 5, 0.05) || !near(r.PCRMaxJitterMs, 5, 0.01) || !near(r.PCRIntervalMs, 40, 0.01) {
		t.Errorf("jitter %v, at most %v, interval %v", r.PCRJitterMs, r.PCRMaxJitterMs, r.PCRIntervalMs)
	}
}

func TestContinuity(t *testing.T) {
	body := []byte{1, 2, 3}
	pk := func(cc byte) []byte { return packet(0x200, cc, false, nil, body) }
	for _, c := range []struct {
		name string
		in   []byte
		want uint64
	}{
		{"in order, over the wrap", join(pk(14), pk(15), pk(0), pk(1)), 0},
		{"one lost", join(pk(1), pk(3), pk(4)), 1},
		{"duplicate", join(pk(1), pk(1), pk(2)), 0},
		{"a third of the same", join(pk(1), pk(1), pk(1), pk(2)), 1},
		{"backwards", join(pk(5), pk(4), pk(5)), 1},
		{"adaptation only does not count", join(pk(1), packet(0x200, 1, false, []byte{0}, nil), packet(0x200, 9, false, []byte{0}, nil), pk(2)), 0},
		{"announced", join(pk(1), packet(0x200, 7, false, []byte{flagDiscontinuity}, body), pk(8)), 0},
		{"announced without payload", join(pk(1), packet(0x200, 1, false, []byte{flagDiscontinuity}, nil), pk(8), pk(9)), 0},
		{"other PIDs do not matter", join(pk(1), packet(0x201, 9, false, nil, body), pk(2), packet(0x201, 10, false, nil, body)), 0},
		{"null packets have none", join(packet(pidNull, 3, false, nil, body), packet(pidNull, 3, false, nil, body), packet(pidNull, 9, false, nil, body)), 0},
	} {
		h, _ := newHealth()
		h.Feed(cut(c.in, 1316), epoch)
		if r := h.Report(); r.ContinuityErrors != c.want || r.Format != TS {
			t.Errorf("%s: %d errors, want %d (%s)", c.name, r.ContinuityErrors, c.want, r.Format)
		}
	}
	h, _ := newHealth()
	h.Feed([][]byte{join(pk(1), pk(3), packet(0x201, 1, false, nil, body), pk(9))}, epoch)
	want := []PIDReport{{0x200, 3, 2}, {0x201, 1, 0}}
	if r := h.Report(); !slices.Equal(r.PIDs, want) {
		t.Errorf("by PID: %+v, want %+v", r.PIDs, want)
	}
}

func TestTransportErrorsAndNullPackets(t *testing.T) {
	h, _ := newHealth()
	damaged := packet(0x200, 9, false, nil, []byte{1})
	damaged[1] |= 0x80
	null := packet(pidNull, 0, false, nil, []byte{1})
	h.Feed([][]byte{join(packet(0x200, 1, false, nil, []byte{1}), damaged, packet(0x200, 2, false, nil, []byte{1}), null)}, epoch)
	if r := h.Report(); r.TransportErrors != 1 || r.ContinuityErrors != 0 || r.NullShare != 0.25 {
		t.Errorf("%+v", r)
	}
}

func TestSyncLoss(t *testing.T) {
	b := frames(t, 50)
	at := len(b) / 2 / PacketSize * PacketSize
	h, _ := newHealth()
	h.Feed(cut(join(b[:at], noise(50), b[at:]), 1316), epoch)
	if r := h.Report(); r.SyncLosses != 1 || r.StrayBytes != 50 || r.ContinuityErrors != 0 || r.Format != TS || r.Packets != uint64(len(b)/PacketSize) {
		t.Errorf("%+v", r)
	}
}

// An unaligned stream of which a message is lost is found again.
func TestLostMessageOfAnUnalignedStream(t *testing.T) {
	b := frames(t, 50)
	msgs := cut(b, 1456)
	h, _ := newHealth()
	h.Feed(slices.Delete(slices.Clone(msgs), 10, 11), epoch)
	r := h.Report()
	if r.SyncLosses != 1 || r.Format != TS || r.ContinuityErrors == 0 || r.Packets < uint64(len(b)/PacketSize-12) {
		t.Errorf("%+v", r)
	}
}

func TestOtherPayloadIsGivenUp(t *testing.T) {
	random := make([]byte, 2*giveUpAfter)
	rand.New(rand.NewSource(1)).Read(random)
	for name, b := range map[string][]byte{"random": random, "no sync byte at all": noise(2 * giveUpAfter)} {
		h, c := newHealth()
		h.Feed(cut(b, 1316), epoch)
		r := h.Report()
		if r.Format != NotTS || r.SyncLosses != 0 || r.Packets != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		stray := r.StrayBytes
		h.Feed(cut(b, 1316), epoch.Add(time.Second))
		c.t = epoch.Add(time.Second)
		if r = h.Report(); r.StrayBytes != stray || !near(r.Bitrate, float64(len(b)*8), 1e-9) {
			t.Errorf("%s: still looked at, or not counted: %+v", name, r)
		}
		h.Feed(cut(frames(t, 50), 1316), epoch.Add(2*time.Second))
		if r = h.Report(); r.Format != TS || r.Packets == 0 {
			t.Errorf("%s: a transport stream that follows is not noticed: %+v", name, r)
		}
	}
}

func TestSilenceShows(t *testing.T) {
	h, c := newHealth()
	for i := range 4 {
		h.Feed(cut(frames(t, 25), 1316), epoch.Add(time.Duration(i)*time.Second))
	}
	c.t = epoch.Add(time.Minute)
	r := h.Report()
	if r.Bitrate != 0 || r.PCRBitrate != 0 || r.PATPresent || r.PMTPresent || *r.PATAgeMs < 50_000 {
		t.Errorf("%+v", r)
	}
}

func TestReportAsJSON(t *testing.T) {
	h, _ := newHealth()
	h.Feed(cut(frames(t, 50), 1316), epoch)
	b, err := json.Marshal(h.Snapshot())
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"format", "bitrate", "syncLosses", "continuityErrors", "pcrJitterMs", "programs", "pids", "patAgeMs"} {
		if _, ok := m[k]; !ok {
			t.Errorf("no %q in %s", k, b)
		}
	}
}

func TestHealthIsReadWhileItIsFed(t *testing.T) {
	h := NewHealth(time.Now)
	b := cut(frames(t, 25), 1316)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 200 {
			h.Feed(b, time.Now())
		}
	})
	for range 200 {
		h.Report()
	}
	wg.Wait()
	if r := h.Report(); r.Format != TS {
		t.Errorf("%+v", r)
	}
}

func TestFeedDoesNotAllocate(t *testing.T) {
	h, _ := newHealth()
	b, at := cut(frames(t, 100), 1316), epoch
	h.Feed(b, at)
	n := testing.AllocsPerRun(50, func() {
		at = at.Add(time.Second)
		h.Feed(b, at)
	})
	if n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func BenchmarkHealth(b *testing.B) {
	msgs := cut(frames(b, 250), 1316)
	packets := len(frames(b, 250)) / PacketSize
	h, at := NewHealth(time.Now), epoch
	measure(b, packets, func() { at = at.Add(time.Second); h.Feed(msgs, at) })
}

// BenchmarkHealthByMessage feeds one message at a time.
func BenchmarkHealthByMessage(b *testing.B) {
	msgs := cut(frames(b, 250), 1316)
	packets := len(frames(b, 250)) / PacketSize
	h, at := NewHealth(time.Now), epoch
	measure(b, packets, func() {
		for i := range msgs {
			at = at.Add(10 * time.Millisecond)
			h.Feed(msgs[i:i+1], at)
		}
	})
}

func BenchmarkHealthOfOtherPayload(b *testing.B) {
	msgs := cut(noise(len(frames(b, 250))), 1316)
	h, at := NewHealth(time.Now), epoch
	measure(b, len(msgs), func() { at = at.Add(time.Second); h.Feed(msgs, at) })
}

// measure reports the time of each of n things that f does.
func measure(b *testing.B, n int, f func()) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		f()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/item")
}
