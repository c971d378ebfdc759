package mpegts

const (
	maxSection = 3 + 1021 // of program tables (2.4.4.9)
	// maxKnown bounds the sections that are remembered of one PID. More than one
	// come where programs share it, or the table is long.
	maxKnown = 32

	tablePAT = 0x00
	tablePMT = 0x02
	stuffing = 0xff
)

// section puts the sections of one PID together.
type section struct {
	pid   uint16
	want  uint8 // table id of interest
	buf   [maxSection]byte
	n     int
	known [][]byte // the last of each kind
}

// lose forgets a section that has a hole.
func (s *section) lose() { s.n = 0 }

// add takes the payload of a packet and calls done with each section that is
// complete.
func (s *section) add(b []byte, start bool, done func(*section, []byte)) {
	if !start {
		if s.n > 0 {
			s.fill(b, done)
		}
		return
	}
	pointer := int(b[0])
	if b = b[1:]; pointer > len(b) {
		s.n = 0
		return
	}
	if s.n > 0 {
		s.fill(b[:pointer], done)
	}
	s.n = 0
	for b = b[pointer:]; len(b) > 0 && b[0] != stuffing; {
		b = s.fill(b, done)
	}
}

// fill appends to the section and returns what is behind its end.
func (s *section) fill(b []byte, done func(*section, []byte)) []byte {
	for len(b) > 0 {
		size := s.size()
		k := copy(s.buf[s.n:size], b)
		s.n += k
		b = b[k:]
		if size = s.size(); size > maxSection {
			s.n = 0
			return nil
		}
		if s.n == size && size > 3 {
			s.n = 0
			if s.buf[0] == s.want {
				done(s, s.buf[:size])
			}
			return b
		}
		if s.n == size { // no more than a head: a section of no length
			s.n = 0
			return b
		}
	}
	return nil
}

// size is how long the section is, 3 as long as its length is not there.
func (s *section) size() int {
	if s.n < 3 {
		return 3
	}
	return 3 + int(s.buf[1]&0x0f)<<8 + int(s.buf[2])
}

// same reports whether the section was the last of its kind: then nothing has
// changed since.
func (s *section) same(b []byte) bool {
	i := s.find(b)
	return i >= 0 && string(s.known[i]) == string(b)
}

// remember notes the section as the last of its kind.
func (s *section) remember(b []byte) {
	i := s.find(b)
	if i < 0 && len(s.known) == maxKnown {
		s.known = s.known[:0] // a stream that makes so many up
	}
	if i < 0 {
		s.known = append(s.known, append([]byte(nil), b...))
		return
	}
	s.known[i] = append(s.known[i][:0], b...)
}

// find looks for a section of the same table, program and number.
func (s *section) find(b []byte) int {
	for i, k := range s.known {
		if k[3] == b[3] && k[4] == b[4] && k[6] == b[6] {
			return i
		}
	}
	return -1
}
