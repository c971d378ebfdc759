package mpegts

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/asticode/go-astits"
)

const (
	videoPID = 0x100
	audioPID = 0x101
)

var epoch = time.Unix(1000, 0)

// frames is a stream of n frames of 40 ms with a key frame each second, made by
// a muxer that is not ours: PAT and PMT before every key frame, a PCR each frame.
func frames(t testing.TB, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	m := astits.NewMuxer(context.Background(), &b)
	for _, s := range []astits.PMTElementaryStream{
		{ElementaryPID: videoPID, StreamType: astits.StreamTypeH264Video},
		{ElementaryPID: audioPID, StreamType: astits.StreamTypeAACAudio},
	} {
		if err := m.AddElementaryStream(s); err != nil {
			t.Fatal(err)
		}
	}
	m.SetPCRPID(videoPID)
	for i := range n {
		if i%25 == 0 {
			if _, err := m.WriteTables(); err != nil {
				t.Fatal(err)
			}
		}
		ticks := int64(i) * 90 * 40
		frame(t, m, videoPID, 0xe0, 2000, i%25 == 0, ticks)
		frame(t, m, audioPID, 0xc0, 300, true, ticks)
	}
	return b.Bytes()
}

func frame(t testing.TB, m *astits.Muxer, pid uint16, id uint8, size int, key bool, ticks int64) {
	t.Helper()
	af := &astits.PacketAdaptationField{RandomAccessIndicator: key}
	if pid == videoPID {
		af.HasPCR, af.PCR = true, &astits.ClockReference{Base: ticks}
	}
	_, err := m.WriteData(&astits.MuxerData{PID: pid, AdaptationField: af, PES: &astits.PESData{
		Data: bytes.Repeat([]byte{0x47}, size),
		Header: &astits.PESHeader{StreamID: id, OptionalHeader: &astits.PESOptionalHeader{
			PTSDTSIndicator: astits.PTSDTSIndicatorOnlyPTS, PTS: &astits.ClockReference{Base: ticks},
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// cut makes messages of n bytes.
func cut(b []byte, n int) (msgs [][]byte) {
	for len(b) > 0 {
		k := min(n, len(b))
		msgs = append(msgs, b[:k:k])
		b = b[k:]
	}
	return msgs
}

// packet is one made by hand: af is the adaptation field without its length; nil:
// there is none.
func packet(pid uint16, cc byte, start bool, af, body []byte) []byte {
	p := []byte{syncByte, byte(pid >> 8), byte(pid), cc & 0x0f}
	if start {
		p[1] |= 0x40
	}
	if af != nil {
		p[3] |= 0x20
		p = append(append(p, byte(len(af))), af...)
	}
	if body != nil {
		p[3] |= 0x10
		p = append(p, body...)
	}
	return append(p, bytes.Repeat([]byte{0xff}, PacketSize-len(p))...)
}

// clockField is an adaptation field with a PCR.
func clockField(flags byte, ticks uint64) []byte {
	base, ext := ticks/300, ticks%300
	return []byte{
		flags | flagPCR, byte(base >> 25), byte(base >> 17), byte(base >> 9), byte(base >> 1),
		byte(base<<7) | 0x7e | byte(ext>>8), byte(ext),
	}
}

func join(p ...[]byte) []byte { return bytes.Join(p, nil) }

// timer is a clock that is set by hand.
type timer struct{ t time.Time }

func (c *timer) now() time.Time { return c.t }

func newHealth() (*Health, *timer) {
	c := &timer{epoch}
	return NewHealth(c.now), c
}
