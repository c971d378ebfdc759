package mpegts

import "testing"

func TestCutPoint(t *testing.T) {
	pes := []byte{0, 0, 1, 0xe0, 0, 0}
	audio := []byte{0, 0, 1, 0xc0, 0, 0}
	plain := packet(0x100, 0, false, nil, []byte{1})
	scrambled := packet(0x100, 0, true, []byte{flagRandomAccess}, audio)
	scrambled[3] |= 0xc0
	damaged := packet(0, 0, true, nil, []byte{0})
	damaged[1] |= 0x80
	for _, c := range []struct {
		name string
		msg  []byte
		want bool
	}{
		{"a table", packet(0, 0, true, nil, []byte{0}), true},
		{"a table behind others", join(plain, plain, packet(0, 0, true, nil, []byte{0})), true},
		{"the rest of a table", packet(0, 0, false, nil, []byte{0}), false},
		{"a damaged packet", damaged, false},
		{"a key frame", packet(0x100, 0, true, []byte{flagRandomAccess}, pes), true},
		{"a frame", packet(0x100, 0, true, []byte{0}, pes), false},
		{"the rest of a frame", packet(0x100, 0, false, []byte{flagRandomAccess}, pes), false},
		{"audio, which has the mark always", packet(0x101, 0, true, []byte{flagRandomAccess}, audio), false},
		{"a mark in a scrambled stream", scrambled, true},
		{"an adaptation field longer than the packet", append([]byte{syncByte, 0x41, 0, 0x30, 255, flagRandomAccess}, make([]byte, 182)...), false},
		{"no table, no key frame", join(plain, plain), false},
		{"no transport stream", []byte("anything"), true},
		{"nothing", nil, true},
	} {
		if got := CutPoint(c.msg); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// In a stream of a muxer the tables and the key frames are cut points, and nothing
// else is.
func TestCutPointsOfAStream(t *testing.T) {
	keys, tables := 0, 0
	for b := frames(t, 100); len(b) > 0; b = b[PacketSize:] {
		pid, cut := headOf(b).pid(), CutPoint(b[:PacketSize])
		switch {
		case pid == pidPAT && cut:
			tables++
		case pid == videoPID && cut:
			keys++
		case pid == pidPAT || cut:
			t.Errorf("PID %#x: %v", pid, cut)
		}
	}
	if keys != 4 || tables < 4 {
		t.Errorf("%d key frames, %d tables", keys, tables)
	}
}

func BenchmarkCutPoint(b *testing.B) {
	msgs := cut(frames(b, 250), 1316)
	measure(b, len(msgs), func() {
		for _, m := range msgs {
			CutPoint(m)
		}
	})
}

func TestBegin(t *testing.T) {
	table := packet(0, 0, true, nil, []byte{0})
	damaged := packet(0, 0, true, nil, []byte{0})
	damaged[1] |= 0x80
	plain := packet(0x100, 0, false, nil, []byte{1})
	key := packet(0x100, 0, true, []byte{flagRandomAccess}, []byte{0, 0, 1, 0xe0, 0, 0})
	for _, c := range []struct {
		name string
		msg  []byte
		want int
	}{
		{"a table", table, 0},
		{"two tables behind others", join(plain, plain, table, plain, table), 2 * PacketSize},
		{"the rest of a table", packet(0, 0, false, nil, []byte{0}), -1},
		{"a damaged table", damaged, -1},
		{"a key frame, of a stream that nobody knows yet", key, -1},
		{"no transport stream", []byte("anything"), 0},
		{"nothing", nil, 0},
	} {
		if got := Begin(c.msg); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}
