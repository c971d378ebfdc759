package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// Every target decodes, encodes what it understood, decodes that and wants the
// same again. Seeds are packets of the recorded captures.

// seedContents adds the contents of recorded control packets of one type.
func seedContents(f *testing.F, want wire.ControlType, captures ...string) {
	f.Helper()
	seen := make(map[int]bool) // one of each length
	for _, name := range captures {
		c, err := golden.LoadName(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range c.Packets {
			h, content, err := wire.ParseControl(p.Data)
			if err == nil && h.Type == want && !seen[len(content)] {
				seen[len(content)] = true
				f.Add(content)
			}
		}
	}
}

// again fails unless b, the encoding of want, decodes to want.
func again[T comparable](t *testing.T, parse func([]byte) (T, error), b []byte, want T) {
	t.Helper()
	if got, err := parse(b); err != nil || got != want {
		t.Fatalf("%+v encodes to %x, which decodes to %+v, %v", want, b, got, err)
	}
}

func FuzzDataHeader(f *testing.F) {
	f.Add(unhex(f, "162e1b71 c0000001 00018e20 003bc327"))
	f.Add(unhex(f, "7fffffff ffffffff ffffffff ffffffff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := wire.ParseData(b)
		if err != nil {
			return
		}
		out := make([]byte, wire.HeaderSize)
		h.Put(out)
		if !bytes.Equal(out, b[:wire.HeaderSize]) {
			t.Fatalf("%x encodes to %x", b, out)
		}
	})
}

func FuzzControlHeader(f *testing.F) {
	f.Add(unhex(f, "80020000 00000005 00000006 00000007 0000"))
	f.Add(unhex(f, "ffff0003 00000000 00000006 00000007"))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, content, err := wire.ParseControl(b)
		if err != nil {
			return
		}
		out := make([]byte, wire.HeaderSize)
		h.Put(out)
		if !bytes.Equal(append(out, content...), b) {
			t.Fatalf("%x encodes to %x", b, out)
		}
	})
}

func FuzzHandshake(f *testing.F) {
	seedContents(f, wire.CtrlHandshake, "01-live-c2l", "05-streamid-512", "06-aes-ctr-256", "23-ipv6")
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := wire.ParseHandshake(b)
		if err != nil {
			return
		}
		if !bytes.Equal(h.Append(nil), b) {
			t.Fatalf("%x encodes to %x", b, h.Append(nil))
		}
		// IPv6 forms of an IPv4 address come back in the IPv4 form, so the
		// address survives, not the bytes.
		addr := h.PeerAddr()
		h.PeerIP = wire.PeerIP(addr)
		if h.PeerAddr() != addr {
			t.Fatalf("address %v comes back as %v", addr, h.PeerAddr())
		}
		reencodeFuzzed(t, h.Exts)
	})
}

func FuzzExtensions(f *testing.F) {
	f.Add(unhex(f, "00010003 00010505 000000bf 00780000 00050001 00000078"))
	f.Add(unhex(f, "0005ffff 00000078"))
	f.Add(wire.AppendExtension(nil, wire.ExtKMReq, keyMaterial(wire.KKEven, 16)))
	f.Fuzz(reencodeFuzzed)
}

// reencodeFuzzed parses extension blocks, encodes the plain blocks, which gives
// the same bytes, and every block by its type, which must be stable.
func reencodeFuzzed(t *testing.T, b []byte) {
	exts, err := wire.ParseExtensions(b, nil)
	if err != nil {
		return
	}
	var plain []byte
	for _, e := range exts {
		plain = wire.AppendExtension(plain, e.Type, e.Content)
		first, err := reencodeExtension(e)
		if err != nil {
			continue
		}
		back, err := wire.ParseExtensions(first, nil)
		if err != nil || len(back) != 1 || back[0].Type != e.Type {
			t.Fatalf("%v %x: encodes to %x: %v", e.Type, e.Content, first, err)
		}
		if second, err := reencodeExtension(back[0]); err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%v: %x, then %x, %v", e.Type, first, second, err)
		}
	}
	if !bytes.Equal(plain, b) {
		t.Fatalf("%x encodes to %x", b, plain)
	}
}

func FuzzHSExt(f *testing.F) {
	f.Add(unhex(f, "00010505 000000bf 00780078"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if e, err := wire.ParseHSExt(b); err == nil {
			again(t, wire.ParseHSExt, e.Append(nil, wire.ExtHSRsp)[4:], e)
		}
	})
}

func FuzzString(f *testing.F) {
	f.Add("#!::u=admin,r=cam")
	f.Add("café/東京")
	f.Add("x\x00")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 4*0xffff {
			return // more words than a block can count
		}
		block := wire.AppendString(nil, wire.ExtSID, s)
		exts, err := wire.ParseExtensions(block, nil)
		if err != nil || len(exts) != 1 {
			t.Fatalf("%q: %v, %v", s, exts, err)
		}
		want := string(bytes.TrimRight([]byte(s), "\x00"))
		if got := wire.DecodeString(exts[0].Content); got != want {
			t.Fatalf("%q comes back as %q", s, got)
		}
	})
}

func FuzzKeyMaterial(f *testing.F) {
	f.Add(keyMaterial(wire.KKEven, 16))
	f.Add(keyMaterial(wire.KKBoth, 32))
	seedContents(f, wire.CtrlUserDefined, "08-km-refresh-ctr")
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := wire.ParseKeyMaterial(b)
		if err != nil {
			return
		}
		out := k.Append(nil)
		back, err := wire.ParseKeyMaterial(out)
		if err != nil || !bytes.Equal(back.Wrapped, k.Wrapped) || !bytes.Equal(back.Append(nil), out) {
			t.Fatalf("%x decodes to %+v, %v", out, back, err)
		}
		back.Wrapped, k.Wrapped = nil, nil
		if back.KK != k.KK || back.KeyLen != k.KeyLen || back.Salt != k.Salt || back.Cipher != k.Cipher || back.Auth != k.Auth {
			t.Fatalf("%+v comes back as %+v", k, back)
		}
	})
}

func FuzzKMState(f *testing.F) {
	f.Add([]byte{4, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 5})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := wire.ParseKMState(b); ok {
			if back, ok := wire.ParseKMState(wire.AppendKMState(nil, s)); !ok || back != s {
				t.Fatalf("%v comes back as %v", s, back)
			}
		}
	})
}

func FuzzACK(f *testing.F) {
	seedContents(f, wire.CtrlACK, "14-light-ack", "12-loss-single-and-range", "13-tlpktdrop-sender")
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := wire.ParseACK(b); err == nil {
			out := make([]byte, a.Kind.Size())
			a.Put(out)
			again(t, wire.ParseACK, out, a)
		}
	})
}

func FuzzNAK(f *testing.F) {
	seedContents(f, wire.CtrlNAK, "20-isn-wrap", "12-loss-single-and-range", "13-tlpktdrop-sender")
	f.Fuzz(func(t *testing.T, b []byte) {
		rs, err := wire.ParseNAK(nil, b)
		if err != nil {
			if len(rs) != 0 {
				t.Fatalf("%d ranges with an error", len(rs))
			}
			return
		}
		var out []byte
		for _, r := range rs {
			if r.Len() < 1 {
				t.Fatalf("range %v", r)
			}
			out = wire.AppendNAKRange(out, r)
		}
		if back, err := wire.ParseNAK(nil, out); err != nil || !slices.Equal(back, rs) {
			t.Fatalf("%v comes back as %v, %v", rs, back, err)
		}
	})
}

func FuzzDropReq(f *testing.F) {
	seedContents(f, wire.CtrlDropReq, "13-tlpktdrop-sender", "20-isn-wrap-dropreq")
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := wire.ParseDropReq(b); err == nil {
			out := make([]byte, wire.DropReqSize)
			r.PutDropReq(out)
			again(t, wire.ParseDropReq, out, r)
		}
	})
}
