package mpegts

import (
	"slices"
	"time"

	"github.com/asticode/go-astits"
)

const (
	// maxPrograms bounds the programs that are watched.
	maxPrograms = 64
	// parseBudget is how many changed tables are read a second: a stream whose
	// tables change all the time must not cost more than one whose do not.
	parseBudget = 64
)

// leastSection is a table with nothing in it: its header and its check sum.
const leastSection = 8 + 4

// program is one program of the association table.
type program struct {
	number  uint16
	pid     uint16 // of its map table
	part    uint8  // number of the PAT section that has it
	table   *astits.PMTData
	version uint8
	at      time.Time // when its map table came last
	clock   *pidState // of its PCR PID
}

// tables keeps the association table and the map tables.
type tables struct {
	pids     *pids
	pat      *section
	at       time.Time // when an association table came last
	programs []*program
	version  uint8
	bad      uint64 // tables that could not be read

	budget int
	second time.Time // of the budget
	now    time.Time // of the packet that is looked at
}

func (t *tables) init(p *pids) {
	t.pids = p
	t.pat = &section{pid: pidPAT, want: tablePAT}
	p.of(pidPAT).table = t.pat
}

// packet takes the payload of a packet of a PID that carries tables.
func (t *tables) packet(s *section, b []byte, start bool, at time.Time) {
	t.now = at
	s.add(b, start, t.complete)
}

// complete looks at a section; it is read only if it differs from the last one.
func (t *tables) complete(s *section, b []byte) {
	if len(b) < leastSection {
		t.bad++
		return
	}
	if !s.same(b) {
		if !t.afford() {
			return
		}
		s.remember(b)
		t.change(s, b)
	}
	if s == t.pat {
		t.at = t.now
		return
	}
	if p := t.program(s.pid, programOf(b)); p != nil {
		p.at = t.now
	}
}

func (t *tables) afford() bool {
	if t.now.Sub(t.second) >= time.Second {
		t.second, t.budget = t.now, parseBudget
	}
	if t.budget == 0 {
		return false
	}
	t.budget--
	return true
}

func (t *tables) change(s *section, b []byte) {
	d := read(s.pid, b)
	switch {
	case d == nil:
		t.bad++
	case d.PAT != nil && s == t.pat:
		t.setPAT(d.PAT, b)
	case d.PMT != nil && s != t.pat:
		t.setPMT(s.pid, d.PMT, b)
	}
}

// Bytes of a section in front of its data (2.4.4.4).
func programOf(b []byte) uint16 { return uint16(b[3])<<8 | uint16(b[4]) }
func versionOf(b []byte) uint8  { return b[5] >> 1 & 0x1f }
func partOf(b []byte) uint8     { return b[6] }

// setPAT takes one section of the association table: what that section no longer
// has is gone, and all of an older version.
func (t *tables) setPAT(d *astits.PATData, b []byte) {
	old, part := t.programs, partOf(b)
	if versionOf(b) == t.version {
		t.programs = slices.DeleteFunc(slices.Clone(old), func(p *program) bool { return p.part == part })
	} else {
		t.programs = nil
	}
	t.version = versionOf(b)
	for _, p := range d.Programs {
		if p.ProgramNumber == 0 || len(t.programs) == maxPrograms { // 0: the network information table
			continue
		}
		next := &program{number: p.ProgramNumber, pid: p.ProgramMapID, part: part}
		i := slices.IndexFunc(old, func(o *program) bool { return o.number == next.number && o.pid == next.pid })
		if i >= 0 {
			next = old[i]
			next.part = part
		}
		t.programs = append(t.programs, next)
	}
	t.watch(old)
}

// watch looks for map tables where programs have them, and nowhere else.
func (t *tables) watch(old []*program) {
	for _, p := range old {
		if s := t.pids.of(p.pid); s != nil && s.table != t.pat {
			s.table = nil
		}
	}
	for _, p := range t.programs {
		s := t.pids.of(p.pid)
		if s == nil || s.table != nil {
			continue
		}
		s.table = &section{pid: p.pid, want: tablePMT}
	}
}

func (t *tables) setPMT(pid uint16, d *astits.PMTData, b []byte) {
	p := t.program(pid, programOf(b))
	if p == nil {
		return
	}
	p.table, p.version, p.clock = d, versionOf(b), nil
	if d.PCRPID != pidNull {
		p.clock = t.pids.of(d.PCRPID)
	}
}

func (t *tables) program(pid, number uint16) *program {
	for _, p := range t.programs {
		if p.pid == pid && p.number == number {
			return p
		}
	}
	return nil
}
