package served

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// A stream of these tests is a transport stream of one data PID. Message n of a
// stream follows from n and the stream's letter alone, so that whoever receives
// it knows what it has to be.
const (
	tsPacket    = 188
	perMessage  = 7
	messageSize = perMessage * tsPacket
	tableEvery  = 20 // messages; a decoder can begin there
	dataPID     = 0x100
	tablePID    = 0x20
)

// table is the PAT, and the PMT of its one program of private data.
var (
	pat = section(0x00, []byte{0x00, 0x01, 0xC1, 0x00, 0x00, 0x00, 0x01, 0xE0 | tablePID>>8, tablePID & 0xFF})
	pmt = section(0x02, []byte{0x00, 0x01, 0xC1, 0x00, 0x00, 0xFF, 0xFF, 0xF0, 0x00, 0x06, 0xE0 | dataPID>>8, dataPID & 0xFF, 0xF0, 0x00})
)

// section is one with its length and checksum.
func section(id byte, body []byte) []byte {
	n := len(body) + 4
	s := append([]byte{id, 0xB0 | byte(n>>8), byte(n)}, body...)
	return binary.BigEndian.AppendUint32(s, checksum(s))
}

// checksum is the CRC of the tables of a transport stream.
func checksum(b []byte) uint32 {
	crc := ^uint32(0)
	for _, c := range b {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc&(1<<31) != 0 {
				crc = crc<<1 ^ 0x04C11DB7
			} else {
				crc <<= 1
			}
		}
	}
	return crc
}

// message is number n of a stream.
func message(stream byte, n int) []byte {
	b := make([]byte, 0, messageSize)
	tables := 0
	if n%tableEvery == 0 {
		round := n / tableEvery
		b = append(b, tablePacket(0, round, pat)...)
		b = append(b, tablePacket(tablePID, round, pmt)...)
		tables = 2
	}
	sofar := perMessage*n - 2*((n+tableEvery-1)/tableEvery)
	for i := range perMessage - tables {
		b = append(b, dataPacket(stream, n, sofar+i)...)
	}
	return b
}

func tablePacket(pid, count int, section []byte) []byte {
	p := append([]byte{0x47, 0x40 | byte(pid>>8), byte(pid), 0x10 | byte(count&15), 0}, section...)
	return append(p, bytes.Repeat([]byte{0xFF}, tsPacket-len(p))...)
}

func dataPacket(stream byte, n, count int) []byte {
	p := bytes.Repeat([]byte{stream}, tsPacket)
	copy(p, []byte{0x47, dataPID >> 8, dataPID & 0xFF, 0x10 | byte(count&15)})
	binary.BigEndian.PutUint64(p[4:], uint64(n))
	binary.BigEndian.PutUint64(p[12:], uint64(n)*0x9E3779B97F4A7C15)
	return p
}

// follower holds what comes to a stream: it may begin anywhere, and then every
// message follows the one before.
type follower struct {
	stream byte
	next   int // 0: nothing yet
}

func (f *follower) take(b []byte) error {
	if len(b) != messageSize {
		return fmt.Errorf("a message of %d bytes", len(b))
	}
	n := int(binary.BigEndian.Uint64(b[messageSize-tsPacket+4:]))
	if f.next != 0 && n != f.next {
		return fmt.Errorf("message %d came after message %d", n, f.next-1)
	}
	if !bytes.Equal(b, message(f.stream, n)) {
		return fmt.Errorf("message %d is not as it was sent", n)
	}
	f.next = n + 1
	return nil
}
