package engine

import (
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

func recording(n int) Config {
	cfg := DefaultConfig()
	cfg.Records = n
	return cfg
}

func TestRecordIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(Record{}); n != 32 {
		t.Errorf("a Record has %d bytes, want 32", n)
	}
}

func TestRecorderAllocatesNothingInTheSteadyState(t *testing.T) {
	p := newWirePair(t, recording(2*recordChunk))
	for range 70_000 { // beyond the memory of the recorder
		p.send(1)
		p.turn()
	}
	for range 400 {
		p.send(4)
		p.turn()
	}
	if n := testing.AllocsPerRun(1000, func() { p.send(4); p.turn() }); n != 0 {
		t.Errorf("%v allocations a turn of four messages, want none", n)
	}
	recorded := p.conns[1].Recorded(p.now, nil)
	records, lost := recorded.Records(), recorded.Lost
	if len(records) <= recordChunk || len(records) > 2*recordChunk || lost == 0 {
		t.Errorf("%d records and %d lost, want at most %d and some", len(records), lost, 2*recordChunk)
	}
}

// Every packet of an undisturbed stream is in exactly one run, at both ends.
func TestRunsCoverEveryPacket(t *testing.T) {
	p := newWirePair(t, recording(1<<14))
	for range 500 {
		p.send(3)
		p.turn()
	}
	for i, kind := range []RecordKind{RecSndRun, RecRcvRun} {
		recorded := p.conns[i].Recorded(p.now, nil)
		records, lost := recorded.Records(), recorded.Lost
		if lost != 0 || records[0].Kind != RecHandshake && records[0].Kind != RecConnected {
			t.Errorf("end %d: begins with %v, %d lost", i, records[0], lost)
		}
		next, n, at := uint32(p.conns[0].initSeq), 0, mono.Time(0)
		for _, r := range records {
			if r.Kind != kind {
				continue
			}
			if r.Seq != next || r.At < at || r.Size != 1316 || r.Stamp == 0 {
				t.Fatalf("end %d: run %+v, want one from %d", i, r, next)
			}
			next, at = r.Seq+r.Count, r.At
			n += int(r.Count)
		}
		if n < 1497 || n > 1500 {
			t.Errorf("end %d: runs hold %d packets of 1500", i, n)
		}
	}
}

// recordsOf are those of one end.
func (p *wirePair) recordsOf(i int) []Record { return p.conns[i].Recorded(p.now, nil).Records() }

func countKind(records []Record, k RecordKind, sent bool) (n int) {
	for _, r := range records {
		if r.Kind == k && (r.Flags&RecSent != 0) == sent {
			n++
		}
	}
	return n
}

// As long as nothing else happens, so many acknowledgements are noted that 30 s
// of them fill half of the recorder; each has its answer.
func TestUndisturbedACKsAreThinned(t *testing.T) {
	const size, seconds = 16 * recordChunk, 10
	p := newWirePair(t, recording(size))
	for range seconds * 1000 {
		p.send(1)
		p.turn()
	}
	for i := range p.conns {
		records := p.recordsOf(i)
		acks, answers := countKind(records, RecACK, i == 1), countKind(records, RecACKACK, i == 0)
		if most := size / 2 / 30 * seconds; len(records) > most+most/10 || len(records) < most/2 {
			t.Errorf("end %d: %d records in %d s, want about %d", i, len(records), seconds, most)
		}
		if acks < seconds*12 || acks > seconds*25 || answers < acks-2 || answers > acks+2 {
			t.Errorf("end %d: %d acknowledgements, %d answers", i, acks, answers)
		}
	}
}

// What is unusual is followed by the acknowledgements in full.
func TestACKsAreNotedAfterTrouble(t *testing.T) {
	p := newWirePair(t, recording(2*recordChunk)) // one in 350 ms
	for range 100 {
		p.send(1)
		p.turn()
	}
	before := countKind(p.recordsOf(1), RecACK, true)
	for range 10 {
		p.conns[1].noteRange(p.now, RecRcvDrop, 1, 1)
		for range 10 {
			p.send(1)
			p.turn()
		}
	}
	if n := countKind(p.recordsOf(1), RecACK, true) - before; n < 7 {
		t.Errorf("%d acknowledgements were noted after ten troubles", n)
	}
}

// The end of a stream is known even if its acknowledgement was not noted and the
// buffers have let go of it.
func TestEndOfAStreamIsKnown(t *testing.T) {
	p := newWirePair(t, recording(2*recordChunk))
	p.send(1)
	var sent mono.Time
	for i := range 500 {
		if i > 0 && i < 50 {
			p.send(1)
			sent = p.now
		}
		p.turn()
	}
	for i, kind := range []RecordKind{RecSndRun, RecRcvRun} {
		var last Record
		for _, r := range p.recordsOf(i) {
			if r.Kind == kind {
				last = r
			}
		}
		if last.Size != 1316 || last.Stamp == 0 || last.At < sent || last.At > sent.Add(2*time.Millisecond) {
			t.Errorf("end %d: the last run is %+v, sent at %v", i, last, sent)
		}
	}
}

// A connection on which little happens keeps what it has, however old; one on
// which much happens keeps no more than it may.
func TestRecorderForgetsByTimeAndByNumber(t *testing.T) {
	r := newRecorder(10 * recordChunk)
	put := func(at time.Duration, n int) {
		for range n {
			r.put(Record{At: mono.Time(at), Kind: RecKeepAlive})
		}
	}
	put(0, 3*recordChunk)
	if len(r.full) != 2 || r.losses != 0 {
		t.Fatalf("%d chunks, %d lost", len(r.full)+1, r.losses)
	}
	put(time.Minute, recordChunk) // these take the place of the oldest; the others go
	if len(r.full) != 0 || r.losses != 3 {
		t.Errorf("a minute later: %d chunks, %d lost", len(r.full)+1, r.losses)
	}
	put(time.Minute, 20*recordChunk)
	if len(r.full) != 9 || r.losses != 14 {
		t.Errorf("full: %d chunks, %d lost", len(r.full)+1, r.losses)
	}
}

// BenchmarkRecorder is what flight recorders at both ends add to
// BenchmarkMessage. Short runs without and with them take turns, and each pair
// is compared: so the moods of the machine, which are larger, cancel out.
func BenchmarkRecorder(b *testing.B) {
	const run = 500
	off, on := newWirePair(b, DefaultConfig()), newWirePair(b, recording(4096))
	timed := func(p *wirePair) float64 {
		begin := time.Now()
		for range run {
			p.send(1)
			p.turn()
		}
		return float64(time.Since(begin)) / run
	}
	for range 60 { // beyond the memory of the recorder
		timed(off)
		timed(on)
	}
	var without, with, more []float64
	for i := 0; b.Loop(); i++ {
		var x, y float64
		if i%2 == 0 {
			x, y = timed(off), timed(on)
		} else {
			y, x = timed(on), timed(off)
		}
		without, with, more = append(without, x), append(with, y), append(more, y/x-1)
	}
	median := func(v []float64) float64 {
		slices.Sort(v)
		return v[len(v)/2]
	}
	b.ReportMetric(median(without), "off-ns/msg")
	b.ReportMetric(median(with), "on-ns/msg")
	b.ReportMetric(100*median(more), "more-%")
	b.ReportMetric(0, "ns/op")
}
