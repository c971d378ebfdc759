package wire_test

import (
	"bytes"
	"testing"

	"github.com/weirline/weirline/srtcore/wire"
	"github.com/weirline/weirline/tests/golden"
)

// forEachCapture runs f for every recorded capture.
func forEachCapture(t *testing.T, f func(t *testing.T, c *golden.Capture)) {
	t.Helper()
	names, err := golden.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := golden.LoadName(name)
			if err != nil {
				t.Fatal(err)
			}
			f(t, c)
		})
	}
}

// TestGoldenReencode: everything that libsrt sent is understood, and what is
// understood encodes to the same bytes.
func TestGoldenReencode(t *testing.T) {
	seen := make(map[string]int)
	forEachCapture(t, func(t *testing.T, c *golden.Capture) {
		for i, p := range c.Packets {
			kind, got := reencode(t, p.Data)
			seen[kind]++
			if !bytes.Equal(got, p.Data) {
				t.Fatalf("packet %d, %s: encoded\n%x, was\n%x", i, kind, got, p.Data)
			}
		}
	})
	for _, kind := range []string{
		"DATA", "HANDSHAKE", "KEEPALIVE", "ACK light", "ACK small", "ACK full", "NAK",
		"SHUTDOWN", "ACKACK", "DROPREQ", "USERDEFINED KMREQ", "USERDEFINED KMRSP",
	} {
		if seen[kind] == 0 {
			t.Errorf("no %s in the captures: %v", kind, seen)
		}
	}
}

// reencode parses a packet and encodes what it understood.
func reencode(t *testing.T, b []byte) (kind string, out []byte) {
	t.Helper()
	if !wire.IsControl(b) {
		h, err := wire.ParseData(b)
		if err != nil {
			t.Fatalf("data %x: %v", b, err)
		}
		out = bytes.Clone(b)
		clear(out[:wire.HeaderSize])
		h.Put(out)
		return "DATA", out
	}
	h, content, err := wire.ParseControl(b)
	if err != nil {
		t.Fatalf("control %x: %v", b, err)
	}
	out = make([]byte, wire.HeaderSize)
	h.Put(out)
	detail, enc, err := reencodeContent(h, content)
	if err != nil {
		t.Fatalf("%v %x: %v", h.Type, b, err)
	}
	return h.Type.String() + detail, append(out, enc...)
}

func reencodeContent(h wire.ControlHeader, content []byte) (detail string, out []byte, err error) {
	switch h.Type {
	case wire.CtrlHandshake:
		out, err = reencodeHandshake(content)
	case wire.CtrlACK:
		var a wire.ACK
		a, err = wire.ParseACK(content)
		out = make([]byte, a.Kind.Size())
		a.Put(out)
		detail = " " + a.Kind.String()
	case wire.CtrlNAK:
		var rs []wire.SeqRange
		rs, err = wire.ParseNAK(nil, content)
		for _, r := range rs {
			out = wire.AppendNAKRange(out, r)
		}
	case wire.CtrlDropReq:
		var r wire.SeqRange
		r, err = wire.ParseDropReq(content)
		out = make([]byte, wire.DropReqSize)
		r.PutDropReq(out)
	case wire.CtrlUserDefined:
		out, err = reencodeExtension(wire.Extension{Type: wire.ExtType(h.Subtype), Content: content})
		out = out[min(4, len(out)):] // no block header here
		detail = " " + wire.ExtType(h.Subtype).String()
	default:
		out = make([]byte, wire.EmptyContentSize)
	}
	return detail, out, err
}

func reencodeHandshake(content []byte) ([]byte, error) {
	h, err := wire.ParseHandshake(content)
	if err != nil {
		return nil, err
	}
	exts, err := wire.ParseExtensions(h.Exts, nil)
	h.Exts = nil
	h.PeerIP = wire.PeerIP(h.PeerAddr())
	out := h.Append(nil)
	for _, e := range exts {
		block, err := reencodeExtension(e)
		if err != nil {
			return nil, err
		}
		out = append(out, block...)
	}
	return out, err
}

// reencodeExtension returns the block with its header.
func reencodeExtension(e wire.Extension) ([]byte, error) {
	switch e.Type {
	case wire.ExtHSReq, wire.ExtHSRsp:
		h, err := wire.ParseHSExt(e.Content)
		return h.Append(nil, e.Type), err
	case wire.ExtKMReq, wire.ExtKMRsp:
		if s, ok := wire.ParseKMState(e.Content); ok {
			return wire.AppendExtension(nil, e.Type, wire.AppendKMState(nil, s)), nil
		}
		k, err := wire.ParseKeyMaterial(e.Content)
		return wire.AppendExtension(nil, e.Type, k.Append(nil)), err
	case wire.ExtSID, wire.ExtCongestion, wire.ExtFilter:
		return wire.AppendString(nil, e.Type, wire.DecodeString(e.Content)), nil
	}
	return wire.AppendExtension(nil, e.Type, e.Content), nil
}

// TestGoldenMeaning compares what the handshakes say with what libsrt's own
// interface reported.
func TestGoldenMeaning(t *testing.T) {
	forEachCapture(t, func(t *testing.T, c *golden.Capture) {
		streamID, reject := "", wire.RejectReason(0)
		for _, p := range c.Packets {
			h, content, err := wire.ParseControl(p.Data)
			if err != nil || h.Type != wire.CtrlHandshake {
				continue
			}
			hs, err := wire.ParseHandshake(content)
			if err != nil {
				t.Fatal(err)
			}
			if hs.Type.IsReject() {
				reject = wire.RejectReason(hs.Type)
			}
			if !hs.PeerAddr().IsLoopback() {
				t.Errorf("peer address %v", hs.PeerAddr())
			}
			exts, _ := wire.ParseExtensions(hs.Exts, nil)
			for _, e := range exts {
				if e.Type == wire.ExtSID {
					streamID = wire.DecodeString(e.Content)
				}
			}
		}
		if streamID != c.Meta.StreamID {
			t.Errorf("stream id %q, want %q", streamID, c.Meta.StreamID)
		}
		checkReject(t, c, reject)
	})
}

// checkReject compares a rejection on the wire with the caller's error.
func checkReject(t *testing.T, c *golden.Capture, got wire.RejectReason) {
	t.Helper()
	for side, r := range c.Meta.Expected.Connect {
		if r.OK || got == 0 {
			continue
		}
		if want := wire.RejectReason(1000 + r.RejectReason); got != want {
			t.Errorf("%s: wire says %d (%v), libsrt %d (%s)", side, got, got, want, r.RejectText)
		}
	}
}
