package trace

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// frame is a packet as this test reads it back, by the format's description and
// without the writer's code.
type frame struct {
	at      time.Time
	data    []byte // from the IP header on
	size    int
	sent    bool
	comment string
}

func (f frame) srt() []byte {
	if f.data[0]>>4 == 6 {
		return f.data[48:]
	}
	return f.data[28:]
}

type blockReader struct {
	t *testing.T
	b []byte
}

func (r *blockReader) next() (kind uint32, body []byte) {
	r.t.Helper()
	if len(r.b) < 12 {
		r.t.Fatalf("%d bytes left over", len(r.b))
	}
	n := le.Uint32(r.b[4:])
	if n%4 != 0 || int(n) > len(r.b) || le.Uint32(r.b[n-4:]) != n {
		r.t.Fatalf("a block of length %d, %d at its end, in %d bytes", n, le.Uint32(r.b[n-4:]), len(r.b))
	}
	kind, body = le.Uint32(r.b), r.b[8:n-4]
	r.b = r.b[n:]
	return kind, body
}

// options reads options to their end, and wants nothing behind it.
func (r *blockReader) options(b []byte) map[uint16][]byte {
	r.t.Helper()
	out := map[uint16][]byte{}
	for len(b) > 0 {
		code, n := le.Uint16(b), int(le.Uint16(b[2:]))
		if code == 0 {
			if n != 0 || len(b) != 4 {
				r.t.Fatalf("%d bytes behind the end of the options", len(b)-4)
			}
			return out
		}
		out[code] = b[4 : 4+n]
		b = b[4+(n+3)/4*4:]
	}
	if len(out) > 0 {
		r.t.Fatal("options without an end")
	}
	return out
}

func readCapture(t *testing.T, data []byte) (frames []frame, last string) {
	t.Helper()
	r := &blockReader{t, data}
	kind, body := r.next()
	if kind != 0x0A0D0D0A || le.Uint32(body) != 0x1A2B3C4D || le.Uint16(body[4:]) != 1 || le.Uint16(body[6:]) != 0 {
		t.Fatalf("no section header: %x %x", kind, body)
	}
	r.options(body[16:])
	kind, body = r.next()
	if opts := r.options(body[8:]); kind != 1 || le.Uint16(body) != 101 || opts[9][0] != 9 {
		t.Fatalf("no interface: %x %x", kind, body)
	}
	at := func(b []byte) time.Time {
		return time.Unix(0, int64(uint64(le.Uint32(b))<<32|uint64(le.Uint32(b[4:]))))
	}
	for {
		kind, body = r.next()
		switch kind {
		case 6:
			n := int(le.Uint32(body[12:]))
			f := frame{at: at(body[4:]), data: body[20 : 20+n], size: int(le.Uint32(body[16:]))}
			opts := r.options(body[20+(n+3)/4*4:])
			f.comment, f.sent = string(opts[1]), le.Uint32(opts[2])&3 == 2
			frames = append(frames, f)
		case 5:
			if len(r.b) != 0 {
				t.Fatalf("%d bytes behind the statistics", len(r.b))
			}
			return frames, string(r.options(body[12:])[1])
		default:
			t.Fatalf("block of kind %d", kind)
		}
	}
}

func TestCaptureHoldsWhatWasRecorded(t *testing.T) {
	tr := sample()
	var b bytes.Buffer
	if err := WritePcapng(&b, tr); err != nil {
		t.Fatal(err)
	}
	frames, last := readCapture(t, b.Bytes())
	type seen struct {
		what string
		at   time.Duration
		size int // of the IP packet
	}
	want := []seen{
		{"data 1009", 9 * msec, 44 + 1316}, {"ACK 1010 sent", 10 * msec, 44 + 28}, {"ACKACK 1", 50 * msec, 44 + 4},
		{"data 1014", 51 * msec, 44 + 1316}, {"data 1017", 52 * msec, 44 + 1316}, {"NAK 1015..1016 sent", 52 * msec, 44 + 8},
		{"data 1015 R", 93 * msec, 44 + 188}, {"data 1016 R", 94 * msec, 44 + 188},
		{"data 1019", 100 * msec, 44 + 1316}, {"NAK 1018..1018 sent", 100 * msec, 44 + 4}, {"data 1018 R", 141 * msec, 44 + 188},
		{"data 1038", 160 * msec, 44 + 1316},
	}
	for i, f := range frames {
		got := seen{describe(t, f), f.at.Sub(tr.Began), f.size}
		if i >= len(want) || got != want[i] {
			t.Errorf("packet %d: %+v, want %+v", i, got, want[min(i, len(want)-1)])
		}
		wantHeaders(t, f, tr)
	}
	if len(frames) != len(want) {
		t.Errorf("%d packets, want %d", len(frames), len(want))
	}
	for i, text := range map[int]string{3: "the last of 5", 4: "missing: 1015 to 1016", 10: "given up as too late: 1018"} {
		if !strings.Contains(frames[i].comment, text) {
			t.Errorf("comment of packet %d: %q, want %q in it", i, frames[i].comment, text)
		}
	}
	if !strings.Contains(last, "not decryptable: 1039 to 1041") {
		t.Errorf("the last comment: %q", last)
	}
}

// describe reads the SRT packet of a frame by the wire package.
func describe(t *testing.T, f frame) string {
	t.Helper()
	b, s := f.srt(), ""
	if !wire.IsControl(b) {
		h, err := wire.ParseData(b)
		if err != nil || len(b) != 16 || h.PP != wire.PPSolo || h.MsgNo != seq.MsgNo(h.Seq-1000+1) {
			t.Errorf("%v: %+v in %d bytes", err, h, len(b))
		}
		s = "data " + num(h.Seq)
		if h.Rexmit {
			s += " R"
		}
		return s
	}
	h, content, err := wire.ParseControl(b)
	if err != nil {
		t.Fatal(err)
	}
	s = h.Type.String()
	switch h.Type {
	case wire.CtrlACK:
		s += " " + num(seq.Number(be.Uint32(content)))
	case wire.CtrlACKACK:
		s += " " + num(seq.Number(h.Info))
	case wire.CtrlNAK:
		rs, err := wire.ParseNAK(nil, content)
		if err != nil || len(rs) != 1 {
			t.Fatal(rs, err)
		}
		s += " " + num(rs[0].First) + ".." + num(rs[0].Last)
	}
	if f.sent {
		s += " sent"
	}
	return s
}

func num(s seq.Number) string { return decimal(uint32(s)) }

func decimal(v uint32) string {
	if v < 10 {
		return string(rune('0' + v))
	}
	return decimal(v/10) + decimal(v%10)
}

func wantHeaders(t *testing.T, f frame, tr srtcore.Trace) {
	t.Helper()
	from, to, id := tr.Remote, tr.Local, tr.SocketID
	if f.sent {
		from, to, id = to, from, tr.PeerSocketID
	}
	ip := f.data[:20]
	if ip[0] != 0x45 || int(be.Uint16(ip[2:])) != f.size || ip[9] != 17 || checksum(ip) != 0 {
		t.Errorf("IP header %x for a size of %d", ip, f.size)
	}
	src, dst := netip.AddrFrom4([4]byte(ip[12:])), netip.AddrFrom4([4]byte(ip[16:]))
	u := f.data[20:]
	if netip.AddrPortFrom(src, be.Uint16(u)) != from || netip.AddrPortFrom(dst, be.Uint16(u[2:])) != to || int(be.Uint16(u[4:])) != f.size-20 {
		t.Errorf("from %v:%d to %v:%d, UDP length %d", src, be.Uint16(u), dst, be.Uint16(u[2:]), be.Uint16(u[4:]))
	}
	if got := uint32(wire.Dest(f.srt())); got != id {
		t.Errorf("socket id %d, want %d", got, id)
	}
}

func TestCaptureOfIPv6(t *testing.T) {
	for _, c := range []struct{ local, remote, src, dst string }{
		{"[2001:db8::1]:9000", "[2001:db8::2]:1", "2001:db8::2", "2001:db8::1"},
		{"[::]:9000", "[2001:db8::2]:1", "2001:db8::2", "::"},
		{"0.0.0.0:9000", "[2001:db8::2]:1", "2001:db8::2", "::"},
	} {
		tr := sample()
		tr.Local, tr.Remote = netip.MustParseAddrPort(c.local), netip.MustParseAddrPort(c.remote)
		var b bytes.Buffer
		if err := WritePcapng(&b, tr); err != nil {
			t.Fatal(err)
		}
		frames, _ := readCapture(t, b.Bytes())
		d := frames[0].data
		src, dst := netip.AddrFrom16([16]byte(d[8:])), netip.AddrFrom16([16]byte(d[24:]))
		if d[0] != 0x60 || src.String() != c.src || dst.String() != c.dst || describe(t, frames[0]) != "data 1009" {
			t.Errorf("%v: from %v to %v", c, src, dst)
		}
	}
}

type failing struct{ after int }

var errDisk = errors.New("no space left")

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

func TestWritersReportAFullDisk(t *testing.T) {
	for _, f := range Formats {
		for _, room := range []int{0, 100, 600} {
			if err := f.Write(&failing{room}, sample()); !errors.Is(err, errDisk) {
				t.Errorf("%s into %d bytes: %v", f, room, err)
			}
		}
	}
}
