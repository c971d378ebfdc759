package trace

import (
	"encoding/binary"
	"io"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Blocks of a pcapng file (draft-ietf-opsawg-pcapng). A capture needs four kinds
// of them and three options; a library for it would bring decoders of a hundred
// protocols, 3 MB of program, with it.
const (
	blockSection   = 0x0A0D0D0A
	blockInterface = 1
	blockStats     = 5
	blockPacket    = 6

	byteOrderMagic = 0x1A2B3C4D

	optComment   = 1
	optSHBAppl   = 4 // shb_userappl
	optIfName    = 2
	optTsResol   = 9 // if_tsresol
	optFlags     = 2 // epb_flags
	flagInbound  = 1
	flagOutbound = 2

	linkRaw = 101 // LINKTYPE_RAW: IPv4 or IPv6, by the first four bits

	nanoseconds = 9 // of if_tsresol: 10^-9 s
)

var le = binary.LittleEndian

// option is one option of a block.
type option struct {
	code  uint16
	value []byte
}

func comment(text string) []option {
	if text == "" {
		return nil
	}
	const most = 60000 // an option has 16 bits for its length
	return []option{{optComment, []byte(text[:min(len(text), most)])}}
}

// captureWriter writes blocks; the first error stays.
type captureWriter struct {
	w   io.Writer
	buf []byte
	err error
}

func (c *captureWriter) block(kind uint32, body []byte, opts []option) {
	b := le.AppendUint32(c.buf[:0], kind)
	b = le.AppendUint32(b, 0)
	b = pad(append(b, body...))
	for _, o := range opts {
		b = le.AppendUint16(b, o.code)
		b = le.AppendUint16(b, uint16(len(o.value)))
		b = pad(append(b, o.value...))
	}
	if len(opts) > 0 {
		b = le.AppendUint32(b, 0) // opt_endofopt
	}
	n := uint32(len(b) + 4)
	le.PutUint32(b[4:], n)
	b = le.AppendUint32(b, n)
	c.buf = b
	if c.err == nil {
		_, c.err = c.w.Write(b)
	}
}

func pad(b []byte) []byte {
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func (c *captureWriter) section(text string) {
	body := le.AppendUint32(nil, byteOrderMagic)
	body = le.AppendUint16(body, 1) // version 1.0
	body = le.AppendUint16(body, 0)
	body = le.AppendUint64(body, ^uint64(0)) // length unknown
	c.block(blockSection, body, append([]option{{optSHBAppl, []byte("weirline")}}, comment(text)...))
}

func (c *captureWriter) iface(name string) {
	body := le.AppendUint16(nil, linkRaw)
	body = le.AppendUint16(body, 0)
	body = le.AppendUint32(body, 0) // no limit of the captured length
	c.block(blockInterface, body, []option{{optIfName, []byte(name)}, {optTsResol, []byte{nanoseconds}}})
}

func appendTime(b []byte, at time.Time) []byte {
	ns := uint64(at.UnixNano())
	b = le.AppendUint32(b, uint32(ns>>32))
	return le.AppendUint32(b, uint32(ns))
}

// packet writes one packet of which data was recorded and size was its length.
func (c *captureWriter) packet(at time.Time, data []byte, size int, sent bool, text string) {
	body := le.AppendUint32(nil, 0) // interface
	body = appendTime(body, at)
	body = le.AppendUint32(body, uint32(len(data)))
	body = le.AppendUint32(body, uint32(max(size, len(data))))
	body = append(body, data...)
	flags := uint32(flagInbound)
	if sent {
		flags = flagOutbound
	}
	c.block(blockPacket, body, append(comment(text), option{optFlags, le.AppendUint32(nil, flags)}))
}

// stats ends the capture; what was decided after the last packet stands here.
func (c *captureWriter) stats(at time.Time, text string) {
	c.block(blockStats, appendTime(le.AppendUint32(nil, 0), at), comment(text))
}

// WritePcapng writes the packets of t as a capture: IP and UDP header, made of
// the addresses, and of SRT as much as was recorded. Decisions are comments of
// the packet that follows them.
func WritePcapng(w io.Writer, t srtcore.Trace) error {
	if len(t.Records) == 0 {
		return ErrNothing
	}
	c := &captureWriter{w: w}
	c.section(sectionComment(&t))
	c.iface("weirline")
	p := newPackets(&t, c)
	for i := 0; i < len(t.Records); {
		i += p.take(t.Records[i:])
	}
	c.stats(t.Taken, p.pending())
	return c.err
}
