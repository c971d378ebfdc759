package trace

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

var be = binary.BigEndian

func sectionComment(t *srtcore.Trace) string {
	return fmt.Sprintf("Flight recorder of an SRT connection, %s. Packets of an undisturbed stream are not recorded one by one: "+
		"the last of each run is here, and its comment says how many came before. Payload, key field, handshakes and key material "+
		"are not recorded; message numbers are those of live mode. %d earlier records were given up.", connectionName(t), t.Lost)
}

// packets turns records into packets of a capture.
type packets struct {
	t       *srtcore.Trace
	out     *captureWriter
	initial seq.Number // of both directions; message number 1
	notes   []string   // decisions since the last packet
	shown   seq.Number // the last received packet written on its own
	any     bool
	size    [2]int // of the latest packet received, sent
}

func newPackets(t *srtcore.Trace, out *captureWriter) *packets {
	p := &packets{t: t, out: out}
	for _, r := range t.Records {
		if r.Kind == srtcore.TraceConnected {
			p.initial = r.Seq
		}
	}
	return p
}

func (p *packets) pending() string {
	text := strings.Join(p.notes, "; ")
	p.notes = p.notes[:0]
	return text
}

// take writes what the first record stands for, with those that were in the same
// packet, and returns how many records that were.
func (p *packets) take(rs []srtcore.TraceRecord) int {
	r := rs[0]
	switch r.Kind {
	case srtcore.TraceReceived, srtcore.TraceSent:
		p.run(r)
	case srtcore.TraceGap:
		p.note(r)
		shows := srtcore.TraceRecord{At: r.At, Seq: r.End(), Count: 1, Stamp: r.Stamp, Size: p.size[0]}
		p.data(shows, "")
		p.shown, p.any = shows.Seq, true
	case srtcore.TraceFilled, srtcore.TraceBelated, srtcore.TraceResent:
		p.data(r, decision(r))
	case srtcore.TraceACK, srtcore.TraceACKACK, srtcore.TraceKeepAlive, srtcore.TraceShutdown, srtcore.TraceKey,
		srtcore.TraceHandshake, srtcore.TraceDropReq:
		p.control(r)
	case srtcore.TraceNAK:
		return p.nak(rs)
	default:
		p.note(r)
	}
	return 1
}

func (p *packets) note(r srtcore.TraceRecord) {
	p.notes = append(p.notes, fmt.Sprintf("%.6f s: %s", r.At.Seconds(), decision(r)))
}

func (p *packets) run(r srtcore.TraceRecord) {
	if r.Size > 0 {
		p.size[direction(r.Sent)] = r.Size
	}
	if r.Count == 1 && p.any && !r.Sent && r.Seq == p.shown {
		return // the packet that showed a gap
	}
	last := r
	last.Seq, last.Size = r.End().Prev(), p.size[direction(r.Sent)]
	p.data(last, decision(r))
}

func direction(sent bool) int {
	if sent {
		return 1
	}
	return 0
}

func (p *packets) write(r srtcore.TraceRecord, srt []byte, size int, text string) {
	if before := p.pending(); before != "" && text != "" {
		text = before + "; " + text
	} else if before != "" {
		text = before
	}
	from, to := p.t.Remote, p.t.Local
	if r.Sent {
		from, to = to, from
	}
	head := ipHeader(from, to, size)
	p.out.packet(p.t.Began.Add(r.At), append(head, srt...), len(head)+size, r.Sent, text)
}

func (p *packets) data(r srtcore.TraceRecord, text string) {
	b := make([]byte, wire.HeaderSize)
	no := uint32(r.Seq.Sub(p.initial)) & uint32(seq.MaxMsgNo)
	wire.DataHeader{
		Seq: r.Seq, PP: wire.PPSolo, Rexmit: r.Rexmit, MsgNo: seq.MsgNo(no).Next(),
		Timestamp: wire.Timestamp(r.Stamp), Dest: p.dest(r.Sent),
	}.Put(b)
	p.write(r, b, wire.HeaderSize+r.Size, text)
}

func (p *packets) dest(sent bool) wire.SocketID {
	if sent {
		return wire.SocketID(p.t.PeerSocketID)
	}
	return wire.SocketID(p.t.SocketID)
}

// control writes a control packet as far as its record tells what was in it.
func (p *packets) control(r srtcore.TraceRecord) {
	h := wire.ControlHeader{Timestamp: wire.Timestamp(r.Stamp), Dest: p.dest(r.Sent)}
	var content []byte
	size := wire.EmptyContentSize
	switch r.Kind {
	case srtcore.TraceACK:
		h.Type, h.Info = wire.CtrlACK, r.Number
		content = be.AppendUint32(be.AppendUint32(nil, uint32(r.Seq)), uint32(r.RTT.Microseconds()))
		size = wire.ACKFull.Size()
	case srtcore.TraceACKACK:
		h.Type, h.Info, content = wire.CtrlACKACK, r.Number, make([]byte, size)
	case srtcore.TraceKeepAlive:
		h.Type, content = wire.CtrlKeepAlive, make([]byte, size)
	case srtcore.TraceShutdown:
		h.Type, content = wire.CtrlShutdown, make([]byte, size)
	case srtcore.TraceDropReq:
		h.Type, size = wire.CtrlDropReq, wire.DropReqSize
		content = make([]byte, size)
		wire.SeqRange{First: r.Seq, Last: r.End().Prev()}.PutDropReq(content)
	case srtcore.TraceKey:
		h.Type, h.Subtype, size = wire.CtrlUserDefined, uint16(r.Number), keySize
	case srtcore.TraceHandshake:
		h.Type, size = wire.CtrlHandshake, handshakeSize
	}
	p.writeControl(r, h, content, size, decision(r))
}

// What such packets have at least; how long they were is not recorded.
const (
	handshakeSize = 48
	keySize       = 32 + 24
)

func (p *packets) writeControl(r srtcore.TraceRecord, h wire.ControlHeader, content []byte, size int, text string) {
	b := make([]byte, wire.HeaderSize, wire.HeaderSize+len(content))
	h.Put(b)
	p.write(r, append(b, content...), wire.HeaderSize+size, text)
}

// nak writes the ranges that were asked for at the same moment as one packet.
func (p *packets) nak(rs []srtcore.TraceRecord) int {
	n := 0
	var content []byte
	for n < len(rs) && rs[n].Kind == srtcore.TraceNAK && rs[n].Sent == rs[0].Sent && rs[n].At == rs[0].At {
		content = wire.AppendNAKRange(content, wire.SeqRange{First: rs[n].Seq, Last: rs[n].End().Prev()})
		n++
	}
	h := wire.ControlHeader{Type: wire.CtrlNAK, Timestamp: wire.Timestamp(rs[0].Stamp), Dest: p.dest(rs[0].Sent)}
	p.writeControl(rs[0], h, content, len(content), decision(rs[0]))
	return n
}

const (
	udpHeaderSize = 8
	protoUDP      = 17
	hops          = 64
)

// ipHeader makes the headers of IP and UDP before size bytes of SRT. The UDP
// checksum is 0, "none": what it would cover is not there.
func ipHeader(from, to netip.AddrPort, size int) []byte {
	src, dst := sameFamily(from.Addr(), to.Addr())
	n := udpHeaderSize + size
	var b []byte
	if src.Is4() {
		b = be.AppendUint16([]byte{0x45, 0}, uint16(20+n))
		b = append(b, 0, 0, 0x40, 0, hops, protoUDP, 0, 0) // no fragments
		b = append(append(b, src.AsSlice()...), dst.AsSlice()...)
		be.PutUint16(b[10:], checksum(b))
	} else {
		b = be.AppendUint16([]byte{0x60, 0, 0, 0}, uint16(n))
		b = append(b, protoUDP, hops)
		b = append(append(b, src.AsSlice()...), dst.AsSlice()...)
	}
	b = be.AppendUint16(be.AppendUint16(b, from.Port()), to.Port())
	return be.AppendUint16(be.AppendUint16(b, uint16(n)), 0)
}

// sameFamily: a socket for both families does not always know its own address.
func sameFamily(from, to netip.Addr) (netip.Addr, netip.Addr) {
	real6 := func(a netip.Addr) bool { return a.Is6() && !a.Is4In6() && !a.IsUnspecified() }
	six := real6(from) || real6(to)
	fit := func(a netip.Addr) netip.Addr {
		a = a.Unmap().WithZone("")
		switch {
		case a.IsValid() && a.Is6() == six:
			return a
		case six:
			return netip.IPv6Unspecified()
		}
		return netip.IPv4Unspecified()
	}
	return fit(from), fit(to)
}

func checksum(b []byte) uint16 {
	var sum uint32
	for i := 0; i+1 < len(b); i += 2 {
		sum += uint32(be.Uint16(b[i:]))
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return ^uint16(sum)
}
