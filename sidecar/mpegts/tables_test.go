package mpegts

import (
	"testing"
	"time"
)

// table makes a section of the given kind around a body.
func table(id byte, ext uint16, version, part byte, body ...byte) []byte {
	n := 5 + len(body) + 4
	b := append([]byte{id, 0xb0 | byte(n>>8), byte(n), byte(ext >> 8), byte(ext), 0xc1 | version<<1, part, part}, body...)
	sum := crc32(b)
	return append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

func entry(program, pid uint16) []byte {
	return []byte{byte(program >> 8), byte(program), 0xe0 | byte(pid>>8), byte(pid)}
}

// programMap is a map table with one video stream, and a descriptor of n bytes.
func programMap(program uint16, version byte, pid uint16, n int) []byte {
	body := []byte{0xe0 | byte(pid>>8), byte(pid), 0xf0, 0, 0x1b, 0xe0 | byte(pid>>8), byte(pid), 0xf0 | byte((n+2)>>8), byte(n + 2), 0xfe, byte(n)}
	return table(tablePMT, program, version, 0, append(body, make([]byte, n)...)...)
}

// feeder numbers the packets of tables.
type feeder struct {
	h  *Health
	at time.Time
	cc map[uint16]byte
}

func newFeeder() *feeder {
	h, _ := newHealth()
	return &feeder{h, epoch, map[uint16]byte{}}
}

func (f *feeder) feed(pid uint16, sections ...[]byte) {
	var all []byte
	for _, s := range sections {
		all = append(all, s...)
	}
	for m := packetize(nil, pid, all); len(m) > 0; m = m[PacketSize:] {
		m[3] = m[3]&0xf0 | f.cc[pid]&0x0f
		f.cc[pid]++
		f.h.Feed([][]byte{m[:PacketSize]}, f.at)
	}
}

func (f *feeder) wantPrograms(t *testing.T, what string, want ...uint16) {
	t.Helper()
	r := f.h.Report()
	ok := len(r.Programs) == len(want)
	for i := range want {
		ok = ok && r.Programs[i].Number == want[i]
	}
	if !ok || r.ContinuityErrors != 0 {
		t.Errorf("%s: programs %+v, want %v; %d errors", what, r.Programs, want, r.ContinuityErrors)
	}
}

func TestTablesFollowTheirVersions(t *testing.T) {
	f := newFeeder()
	f.feed(0, table(tablePAT, 1, 0, 0, append(entry(0, 16), append(entry(1, 0x1000), entry(2, 0x1001)...)...)...))
	f.wantPrograms(t, "first", 1, 2)
	if f.h.Report().PMTPresent {
		t.Error("there are no maps yet")
	}
	f.feed(0x1000, programMap(1, 0, 0x100, 0))
	f.feed(0x1001, programMap(2, 0, 0x110, 0))
	if r := f.h.Report(); !r.PMTPresent || r.Programs[0].PCRPID != 0x100 || r.Programs[1].PCRPID != 0x110 {
		t.Errorf("maps: %+v", r)
	}
	f.feed(0x1000, programMap(1, 1, 0x120, 0))
	if r := f.h.Report(); r.Programs[0].PCRPID != 0x120 || r.Programs[0].Version != 1 {
		t.Errorf("a new map: %+v", r.Programs[0])
	}
	f.feed(0, table(tablePAT, 1, 1, 0, entry(2, 0x1001)...))
	f.wantPrograms(t, "one is gone", 2)
	if r := f.h.Report(); r.Programs[0].PCRPID != 0x110 {
		t.Error("the other has lost its map")
	}
}

func TestTableInParts(t *testing.T) {
	f := newFeeder()
	f.feed(0, table(tablePAT, 1, 3, 0, entry(1, 0x1000)...), table(tablePAT, 1, 3, 1, entry(2, 0x1000)...))
	f.wantPrograms(t, "two sections", 1, 2)
	f.feed(0x1000, programMap(1, 0, 0x100, 0), programMap(2, 0, 0x110, 0))
	if r := f.h.Report(); r.Programs[0].PCRPID != 0x100 || r.Programs[1].PCRPID != 0x110 {
		t.Errorf("two maps on one PID: %+v", r.Programs)
	}
}

func TestMapLongerThanAPacket(t *testing.T) {
	f := newFeeder()
	f.feed(0, table(tablePAT, 1, 0, 0, entry(1, 0x1000)...))
	f.feed(0x1000, programMap(1, 0, 0x100, 250))
	r := f.h.Report()
	if len(r.Programs) != 1 || len(r.Programs[0].Streams) != 1 || r.TableErrors != 0 {
		t.Errorf("%+v", r)
	}
}

func TestDamagedTables(t *testing.T) {
	f := newFeeder()
	bad := table(tablePAT, 1, 0, 0, entry(1, 0x1000)...)
	bad[9] ^= 1
	f.feed(0, bad)
	f.feed(0, bad)
	if r := f.h.Report(); r.TableErrors != 1 || len(r.Programs) != 0 {
		t.Errorf("damaged: %+v", r)
	}
	// Descriptors that go on beyond the end.
	f.feed(0, table(tablePAT, 1, 0, 0, entry(1, 0x1000)...))
	f.feed(0x1000, table(tablePMT, 1, 0, 0, 0xe1, 0, 0xf3, 0xff, 0x80, 200))
	if r := f.h.Report(); r.TableErrors != 2 || len(r.Programs) != 1 {
		t.Errorf("a lie about its length: %+v", r)
	}
}

// Tables that change with every packet are read a bounded number of times.
func TestChangingTablesAreBounded(t *testing.T) {
	f := newFeeder()
	for i := range 1000 {
		f.feed(0, table(tablePAT, uint16(i), byte(i&0x1f), 0, entry(1, 0x1000)...))
	}
	if n := len(f.h.tables.pat.known); n > maxKnown {
		t.Errorf("%d sections remembered", n)
	}
	if f.h.tables.budget != 0 {
		t.Errorf("budget %d", f.h.tables.budget)
	}
	f.at = f.at.Add(time.Second)
	f.feed(0, table(tablePAT, 7, 7, 0, entry(9, 0x1000)...))
	f.wantPrograms(t, "a second later", 9)
}

func TestManyPIDsAreBounded(t *testing.T) {
	h, _ := newHealth()
	for pid := range uint16(2000) {
		h.Feed([][]byte{packet(pid+1, 0, false, nil, []byte{1})}, epoch)
	}
	if r := h.Report(); len(r.PIDs) > maxPIDs || r.Packets != 2000 || r.UntrackedPackets != 2001-maxPIDs {
		t.Errorf("%d PIDs, %d packets, %d untracked", len(r.PIDs), r.Packets, r.UntrackedPackets)
	}
}

func TestClockJumps(t *testing.T) {
	h, c := newHealth()
	feed := func(flags byte, ticks uint64) {
		c.t = c.t.Add(40 * time.Millisecond)
		h.Feed([][]byte{packet(0x100, 0, false, clockField(flags, ticks), nil)}, c.t)
	}
	const step = 40 * pcrHz / 1000
	for i := range uint64(30) { // over the end of the cycle
		feed(0, (pcrCycle-10*step+i*step)%pcrCycle)
	}
	if r := h.Report(); r.ClockErrors != 0 || !near(r.PCRIntervalMs, 40, 1e-6) || r.PCRJitterMs > 1e-6 {
		t.Errorf("over the wrap: %+v", r)
	}
	feed(flagDiscontinuity, 5*pcrHz)
	if r := h.Report(); r.ClockErrors != 0 {
		t.Errorf("announced: %+v", r)
	}
	feed(0, 1*pcrHz)
	feed(0, 1*pcrHz+step)
	if r := h.Report(); r.ClockErrors != 1 || r.PCRMaxJitterMs > 1e-6 {
		t.Errorf("not announced: %+v", r)
	}
}
