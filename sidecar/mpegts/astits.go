package mpegts

import (
	"bytes"
	"context"

	"github.com/asticode/go-astits"
)

// read takes the section of a program table apart; nil if it is damaged. The
// library wants packets, so the section is put into some.
func read(pid uint16, section []byte) (d *astits.DemuxerData) {
	// The section comes from outside, and the library trusts some of the lengths
	// in it. What it cannot take is a damaged table.
	defer func() {
		if recover() != nil {
			d = nil
		}
	}()
	var b []byte
	if pid != pidPAT {
		b = packetize(b, pidPAT, association(pid, programOf(section)))
	}
	b = packetize(b, pid, section)
	x := astits.NewDemuxer(context.Background(), bytes.NewReader(b), astits.DemuxerOptPacketSize(PacketSize))
	for {
		d, err := x.NextData()
		if err != nil {
			return nil
		}
		if d.PAT != nil && pid == pidPAT || d.PMT != nil && pid != pidPAT {
			return d
		}
	}
}

// packetize appends packets that carry nothing but the section.
func packetize(to []byte, pid uint16, section []byte) []byte {
	rest := append([]byte{0}, section...) // with the pointer field
	for i := 0; len(rest) > 0; i++ {
		start := byte(0)
		if i == 0 {
			start = 0x40
		}
		to = append(to, syncByte, start|byte(pid>>8), byte(pid), 0x10|byte(i&0x0f))
		n := min(len(rest), PacketSize-4)
		to = append(to, rest[:n]...)
		to = append(to, bytes.Repeat([]byte{stuffing}, PacketSize-4-n)...)
		rest = rest[n:]
	}
	return to
}

// association is a table that says that the program has its map at pid: without
// one the library does not look for a map there.
func association(pid, program uint16) []byte {
	b := []byte{
		tablePAT, 0xb0, 13, 0, 1, 0xc1, 0, 0,
		byte(program >> 8), byte(program), 0xe0 | byte(pid>>8), byte(pid),
	}
	sum := crc32(b)
	return append(b, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
}

// crc32 is the check sum of sections (ISO/IEC 13818-1, Annex A).
func crc32(b []byte) uint32 {
	sum := ^uint32(0)
	for _, v := range b {
		sum ^= uint32(v) << 24
		for range 8 {
			carry := sum >> 31
			sum = sum<<1 ^ carry*0x04c11db7
		}
	}
	return sum
}
