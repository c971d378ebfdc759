package wire_test

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/weirline/weirline/srtcore/wire"
)

const conclusionHex = "00000005 00000001 162e1b71 000005dc 00002000 ffffffff 022b9dc3 5c826328" +
	"0100007f 00000000 00000000 00000000" + "00010003 00010505 000000bf 00780000"

func TestHandshake(t *testing.T) {
	b := unhex(t, conclusionHex)
	h, err := wire.ParseHandshake(b)
	if err != nil {
		t.Fatal(err)
	}
	if h.Version != 5 || h.EncField != 0 || h.ExtField != wire.ExtFieldHSReq || h.InitSeq != 0x162e1b71 ||
		h.MSS != 1500 || h.FlowWindow != 8192 || h.Type != wire.HSConclusion ||
		h.SocketID != 0x022b9dc3 || h.Cookie != 0x5c826328 {
		t.Errorf("ParseHandshake = %+v", h)
	}
	if got := h.PeerAddr(); got != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("peer address %v", got)
	}
	if out := h.Append([]byte("x")); string(out) != "x"+string(b) {
		t.Errorf("Append = %x", out)
	}
	exts, err := wire.ParseExtensions(h.Exts, nil)
	if err != nil || len(exts) != 1 || exts[0].Type != wire.ExtHSReq {
		t.Fatalf("extensions %v, %v", exts, err)
	}
	e, err := wire.ParseHSExt(exts[0].Content)
	want := wire.HSExt{Version: 0x10505, Flags: 0xbf, RcvTSBPDDelayMs: 120}
	if err != nil || e != want {
		t.Errorf("HSREQ %+v, %v", e, err)
	}
	if out := e.Append(nil, wire.ExtHSReq); !bytes.Equal(out, h.Exts) {
		t.Errorf("HSREQ encodes to %x", out)
	}
	if _, err := wire.ParseHandshake(b[:47]); !errors.Is(err, wire.ErrShort) {
		t.Errorf("47 bytes: %v", err)
	}
	if _, err := wire.ParseHSExt(make([]byte, 11)); !errors.Is(err, wire.ErrShort) {
		t.Errorf("HSREQ of 11 bytes: %v", err)
	}
}

func TestPeerIP(t *testing.T) {
	tests := []struct{ addr, hex, back string }{
		{"127.0.0.1", "0100007f 00000000 00000000 00000000", "127.0.0.1"},
		{"::ffff:10.1.2.3", "0302010a 00000000 00000000 00000000", "10.1.2.3"},
		{"::1", "00000000 00000000 00000000 01000000", "::1"},
		{"2001:db8:1:2:3:4:5:6", "b80d0120 02000100 04000300 06000500", "2001:db8:1:2:3:4:5:6"},
		{"", "00000000 00000000 00000000 00000000", "0.0.0.0"},
	}
	for _, tt := range tests {
		a, _ := netip.ParseAddr(tt.addr)
		h := wire.Handshake{PeerIP: wire.PeerIP(a)}
		if !bytes.Equal(h.PeerIP[:], unhex(t, tt.hex)) {
			t.Errorf("%s: wire form %x", tt.addr, h.PeerIP)
		}
		if got := h.PeerAddr().String(); got != tt.back {
			t.Errorf("%s comes back as %s", tt.addr, got)
		}
	}
}

func TestParseExtensions(t *testing.T) {
	b := unhex(t, "00010003 00010505 000000bf 00780000 00050000 00630001 aabbccdd")
	exts, err := wire.ParseExtensions(b, nil)
	if err != nil || len(exts) != 3 {
		t.Fatalf("%v, %v", exts, err)
	}
	if exts[1].Type != wire.ExtSID || len(exts[1].Content) != 0 {
		t.Errorf("empty block: %v", exts[1])
	}
	if exts[2].Type != 99 || !bytes.Equal(exts[2].Content, []byte{0xaa, 0xbb, 0xcc, 0xdd}) {
		t.Errorf("unknown block: %v", exts[2])
	}
	var out []byte
	for _, e := range exts {
		out = wire.AppendExtension(out, e.Type, e.Content)
	}
	if !bytes.Equal(out, b) {
		t.Errorf("encoded %x", out)
	}
	if exts, err := wire.ParseExtensions(nil, nil); err != nil || len(exts) != 0 {
		t.Errorf("nothing: %v, %v", exts, err)
	}
	prior := []wire.Extension{{Type: 7}}
	for _, bad := range []string{"00", "0001", "000100", "00050001", "00050002 aabbccdd",
		"00050001 aabbccdd 00", "00050000 0006ffff 00000000"} {
		got, err := wire.ParseExtensions(unhex(t, bad), prior)
		if !errors.Is(err, wire.ErrMalformed) || len(got) != 1 {
			t.Errorf("%s: %v, %v", bad, got, err)
		}
	}
}

func TestStrings(t *testing.T) {
	tests := []struct{ s, hex string }{
		{"#!::u=admin,r=cam", "00050005 3a3a2123 64613d75 2c6e696d 61633d72 0000006d"},
		{"file", "00050001 656c6966"},
		{"x", "00050001 00000078"},
		{"", "00050000"},
	}
	for _, tt := range tests {
		out := wire.AppendString(nil, wire.ExtSID, tt.s)
		if !bytes.Equal(out, unhex(t, tt.hex)) {
			t.Errorf("%q encodes to %x", tt.s, out)
		}
		if got := wire.DecodeString(out[4:]); got != tt.s {
			t.Errorf("%q comes back as %q", tt.s, got)
		}
	}
	long := strings.Repeat("abcdefg", 73) + "x"
	if got := wire.DecodeString(wire.AppendString(nil, wire.ExtSID, long)[4:]); got != long {
		t.Errorf("512 bytes come back as %q", got)
	}
	if got := wire.DecodeString([]byte("dcba\x00")); got != "abcd" {
		t.Errorf("half a word: %q", got)
	}
}

func TestHSType(t *testing.T) {
	tests := []struct {
		t      wire.HSType
		want   string
		reject bool
	}{
		{wire.HSInduction, "INDUCTION", false},
		{wire.HSWaveahand, "WAVEAHAND", false},
		{wire.HSConclusion, "CONCLUSION", false},
		{wire.HSAgreement, "AGREEMENT", false},
		{999, "handshake type 999", false},
		{1010, "rejection: bad secret", true},
	}
	for _, tt := range tests {
		if tt.t.String() != tt.want || tt.t.IsReject() != tt.reject {
			t.Errorf("%d: %v, reject %v", int32(tt.t), tt.t, tt.t.IsReject())
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct {
		got  interface{ String() string }
		want string
	}{
		{wire.RejUnknown, "unknown reason"},
		{wire.RejBadSecret, "bad secret"},
		{wire.RejForbidden, "forbidden"},
		{wire.RejectReason(1099), "reason 1099"},
		{wire.RejectReason(2999), "predefined code 2999"},
		{wire.RejectReason(3042), "user code 3042"},
		{wire.CtrlACKACK, "ACKACK"},
		{wire.CtrlUserDefined, "USERDEFINED"},
		{wire.ControlType(99), "control type 99"},
		{wire.ExtGroup, "GROUP"},
		{wire.ExtType(0), "extension type 0"},
		{wire.KMBadSecret, "BADSECRET"},
		{wire.KMState(9), "KM state 9"},
		{wire.PPFirst, "first"},
		{wire.KKOdd, "odd"},
		{wire.ACKLight, "light"},
	}
	for _, tt := range tests {
		if got := tt.got.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if wire.KKEven.Other() != wire.KKOdd || wire.KKOdd.Other() != wire.KKEven || wire.KKClear.Other() != wire.KKClear {
		t.Error("KK.Other")
	}
}
