package engine

import (
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
	for range 4000 { // beyond the memory of the recorder
		p.send(4)
		p.turn()
	}
	if n := testing.AllocsPerRun(1000, func() { p.send(4); p.turn() }); n != 0 {
		t.Errorf("%v allocations a turn of four messages, want none", n)
	}
	records, lost := p.conns[1].Records(p.now)
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
		records, lost := p.conns[i].Records(p.now)
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
	if len(r.full) != 0 || r.losses != 3*recordChunk {
		t.Errorf("a minute later: %d chunks, %d lost", len(r.full)+1, r.losses)
	}
	put(time.Minute, 20*recordChunk)
	if len(r.full) != 9 || r.losses != 14*recordChunk {
		t.Errorf("full: %d chunks, %d lost", len(r.full)+1, r.losses)
	}
}

// BenchmarkMessageRecorded is BenchmarkMessage with flight recorders at both
// ends.
func BenchmarkMessageRecorded(b *testing.B) {
	p := newWirePair(b, recording(8192))
	b.ReportAllocs()
	for b.Loop() {
		p.send(1)
		p.turn()
	}
	if p.received == 0 {
		b.Fatal("nothing arrived")
	}
}
