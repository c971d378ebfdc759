package wire_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// unhex decodes hexadecimal with blanks.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDataHeader(t *testing.T) {
	tests := []struct {
		name string
		hex  string
		want wire.DataHeader
	}{
		{"live", "162e1b71 c0000001 00018e20 003bc327", wire.DataHeader{
			Seq: 0x162e1b71, PP: wire.PPSolo, MsgNo: 1, Timestamp: 0x18e20, Dest: 0x3bc327}},
		{"all bits", "7fffffff ffffffff ffffffff ffffffff", wire.DataHeader{
			Seq: seq.Max, PP: wire.PPSolo, InOrder: true, KK: wire.KKBoth, Rexmit: true,
			MsgNo: seq.MaxMsgNo, Timestamp: 0xffffffff, Dest: 0xffffffff}},
		{"first, odd key", "00000000 90000002 00000000 00000001", wire.DataHeader{
			PP: wire.PPFirst, KK: wire.KKOdd, MsgNo: 2, Dest: 1}},
		{"last, in order", "00000000 60000002 00000000 00000001", wire.DataHeader{
			PP: wire.PPLast, InOrder: true, MsgNo: 2, Dest: 1}},
		{"middle, even key, again", "00000000 0c000002 00000000 00000001", wire.DataHeader{
			PP: wire.PPMiddle, KK: wire.KKEven, Rexmit: true, MsgNo: 2, Dest: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := unhex(t, tt.hex)
			got, err := wire.ParseData(b)
			if err != nil || got != tt.want {
				t.Fatalf("ParseData = %+v, %v; want %+v", got, err, tt.want)
			}
			if wire.DataSeq(b) != got.Seq || wire.DataKK(b) != got.KK ||
				wire.Dest(b) != got.Dest || wire.Stamp(b) != got.Timestamp || wire.IsRexmit(b) != got.Rexmit {
				t.Error("the views differ from ParseData")
			}
			out := make([]byte, wire.HeaderSize)
			got.Put(out)
			if string(out) != string(b) {
				t.Errorf("Put = %x, want %x", out, b)
			}
		})
	}
}

func TestHeaderSetters(t *testing.T) {
	b := unhex(t, "162e1b71 c0000001 00018e20 003bc327")
	wire.SetRexmit(b, true)
	if h, _ := wire.ParseData(b); !h.Rexmit || h.MsgNo != 1 || h.PP != wire.PPSolo {
		t.Errorf("R set: %+v", h)
	}
	wire.SetRexmit(b, false)
	wire.SetStamp(b, 7)
	wire.SetDest(b, 8)
	if got := hex.EncodeToString(b); got != "162e1b71c00000010000000700000008" {
		t.Errorf("after the setters: %s", got)
	}
}

func TestHeaderErrors(t *testing.T) {
	data, control := make([]byte, 16), append([]byte{0x80}, make([]byte, 15)...)
	if wire.IsControl(control[:15]) || wire.IsControl(data) || !wire.IsControl(control) {
		t.Error("IsControl")
	}
	if _, err := wire.ParseData(data[:15]); !errors.Is(err, wire.ErrShort) {
		t.Errorf("short data: %v", err)
	}
	if _, err := wire.ParseData(control); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("control as data: %v", err)
	}
	if _, _, err := wire.ParseControl(control[:15]); !errors.Is(err, wire.ErrShort) {
		t.Errorf("short control: %v", err)
	}
	if _, _, err := wire.ParseControl(data); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("data as control: %v", err)
	}
}

func TestControlHeader(t *testing.T) {
	b := unhex(t, "ffff0003 00000005 00000006 00000007 aabb")
	h, content, err := wire.ParseControl(b)
	want := wire.ControlHeader{Type: wire.CtrlUserDefined, Subtype: 3, Info: 5, Timestamp: 6, Dest: 7}
	if err != nil || h != want || string(content) != "\xaa\xbb" {
		t.Fatalf("ParseControl = %+v, %x, %v", h, content, err)
	}
	out := make([]byte, wire.HeaderSize)
	h.Put(out)
	if string(out) != string(b[:16]) {
		t.Errorf("Put = %x", out)
	}
}

func TestACK(t *testing.T) {
	full := "00000001 00000002 00000003 00000004 00000005 00000006 00000007"
	all := wire.ACK{Kind: wire.ACKFull, LastAckSeq: 1, RTTUs: 2, RTTVarUs: 3, AvailBufPkts: 4,
		RcvRatePkts: 5, LinkCapPkts: 6, RcvRateBytes: 7}
	old, small, light := all, all, wire.ACK{LastAckSeq: 1}
	old.RcvRateBytes = 0
	small = wire.ACK{Kind: wire.ACKSmall, LastAckSeq: 1, RTTUs: 2, RTTVarUs: 3, AvailBufPkts: 4}
	b := unhex(t, full)
	tests := []struct {
		n    int
		want wire.ACK
	}{{28, all}, {27, old}, {24, old}, {23, small}, {16, small}, {15, light}, {4, light}}
	for _, tt := range tests {
		got, err := wire.ParseACK(b[:tt.n])
		if err != nil || got != tt.want {
			t.Errorf("%d bytes: %+v, %v", tt.n, got, err)
		}
	}
	for _, a := range []wire.ACK{all, small, light} {
		out := make([]byte, a.Kind.Size())
		a.Put(out)
		if string(out) != string(b[:len(out)]) {
			t.Errorf("%v ACK: Put = %x", a.Kind, out)
		}
	}
	if _, err := wire.ParseACK(b[:3]); !errors.Is(err, wire.ErrShort) {
		t.Errorf("3 bytes: %v", err)
	}
	if _, err := wire.ParseACK(unhex(t, "80000001")); !errors.Is(err, wire.ErrMalformed) {
		t.Errorf("32-bit number: %v", err)
	}
}

func TestNAK(t *testing.T) {
	tests := []struct {
		name string
		hex  string
		want []wire.SeqRange // nil: malformed
	}{
		{"lone number", "00000005", []wire.SeqRange{{5, 5}}},
		{"range", "80000005 00000009", []wire.SeqRange{{5, 9}}},
		{"across the wrap", "fffffffe 00000002", []wire.SeqRange{{0x7ffffffe, 2}}},
		{"range of one", "80000005 00000005", []wire.SeqRange{{5, 5}}},
		{"mixed", "00000001 80000003 00000004 7fffffff", []wire.SeqRange{{1, 1}, {3, 4}, {seq.Max, seq.Max}}},
		{"empty", "", nil},
		{"half a word", "0000", nil},
		{"word and a half", "00000001 0000", nil},
		{"first without last", "00000001 80000003", nil},
		{"backwards", "80000005 00000004", nil},
		{"last with the top bit", "80000005 80000006", nil},
		{"half the circle", "80000000 40000000", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			prior := []wire.SeqRange{{100, 200}}
			got, err := wire.ParseNAK(prior, unhex(t, tt.hex))
			if tt.want == nil {
				if !errors.Is(err, wire.ErrMalformed) || len(got) != 1 {
					t.Fatalf("ParseNAK = %v, %v", got, err)
				}
				return
			}
			if err != nil || len(got) != 1+len(tt.want) {
				t.Fatalf("ParseNAK = %v, %v", got, err)
			}
			for i, w := range tt.want {
				if got[1+i] != w {
					t.Errorf("range %d = %v, want %v", i, got[1+i], w)
				}
			}
		})
	}
}

func TestSeqRangeLen(t *testing.T) {
	for r, want := range map[wire.SeqRange]int{{5, 5}: 1, {5, 9}: 5, {0x7ffffffe, 2}: 5} {
		if got := r.Len(); got != want {
			t.Errorf("%v has %d numbers, want %d", r, got, want)
		}
	}
}

func TestDropReq(t *testing.T) {
	b := unhex(t, "7ffffffe 00000002")
	r, err := wire.ParseDropReq(b)
	if err != nil || r != (wire.SeqRange{First: 0x7ffffffe, Last: 2}) {
		t.Fatalf("ParseDropReq = %v, %v", r, err)
	}
	out := make([]byte, wire.DropReqSize)
	r.PutDropReq(out)
	if string(out) != string(b) {
		t.Errorf("PutDropReq = %x", out)
	}
	if _, err := wire.ParseDropReq(b[:7]); !errors.Is(err, wire.ErrShort) {
		t.Errorf("short: %v", err)
	}
	for _, bad := range []string{"00000002 00000001", "80000001 00000002", "00000001 80000002"} {
		if _, err := wire.ParseDropReq(unhex(t, bad)); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestNoAllocations: the paths that every packet takes leave the heap alone.
func TestNoAllocations(t *testing.T) {
	data, control := unhex(t, "162e1b71 c0000001 00018e20 003bc327"), unhex(t, "80020000 00000005 00000006 00000007")
	ackContent := make([]byte, wire.ACKFull.Size())
	nak := unhex(t, "00000001 80000003 00000004 00000009")
	ranges, out := make([]wire.SeqRange, 0, 8), make([]byte, 0, 64)
	var sink int
	tests := map[string]func(){
		"data": func() {
			h, err := wire.ParseData(data)
			h.Put(data)
			if err == nil {
				sink += int(h.Seq)
			}
		},
		"bad data": func() { _, _ = wire.ParseData(control) },
		"control": func() {
			h, content, _ := wire.ParseControl(control)
			h.Put(control)
			sink += len(content)
		},
		"ACK": func() {
			a, _ := wire.ParseACK(ackContent)
			a.Put(ackContent)
		},
		"NAK": func() {
			rs, _ := wire.ParseNAK(ranges[:0], nak)
			b := out[:0]
			for _, r := range rs {
				b = wire.AppendNAKRange(b, r)
			}
			sink += len(b)
		},
		"DROPREQ": func() {
			r, _ := wire.ParseDropReq(nak)
			r.PutDropReq(nak[:8])
		},
	}
	for name, f := range tests {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
