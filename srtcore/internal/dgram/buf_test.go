package dgram_test

import (
	"bytes"
	"testing"

	"github.com/weirline/weirline/srtcore/internal/dgram"
)

func TestBuf(t *testing.T) {
	var b dgram.Buf
	if b.Len() != 0 || len(b.Bytes()) != 0 || b.Payload() != nil || len(b.Header()) != dgram.HeaderSize {
		t.Error("a new Buf is not empty")
	}
	if n := b.SetPayload([]byte("payload")); n != 7 || b.Len() != 23 || string(b.Payload()) != "payload" {
		t.Errorf("SetPayload: %d, length %d, payload %q", n, b.Len(), b.Payload())
	}
	b.Header()[0] = 0x42
	if b.Bytes()[0] != 0x42 || !bytes.Equal(b.Bytes()[dgram.HeaderSize:], b.Payload()) {
		t.Error("header, payload and datagram are different memory")
	}
	if n := b.SetPayload(make([]byte, dgram.Size)); n != dgram.Size-dgram.HeaderSize || b.Len() != dgram.Size {
		t.Errorf("too long a payload: %d, length %d", n, b.Len())
	}
	b.Reset(15)
	if b.Len() != 15 || b.Payload() != nil {
		t.Errorf("15 bytes have payload %x", b.Payload())
	}
	b.Reset(16)
	if p := b.Payload(); p == nil || len(p) != 0 {
		t.Errorf("16 bytes have payload %x", p)
	}
	b.Reset(dgram.Size + 1)
	if b.Len() != dgram.Size || len(b.Mem()) != dgram.Size {
		t.Errorf("length %d, room %d", b.Len(), len(b.Mem()))
	}
}

// TestBufViewsEnd: no view of a Buf can be appended to beyond its room, and a
// header never into the payload.
func TestBufViewsEnd(t *testing.T) {
	var b dgram.Buf
	b.SetPayload([]byte("abc"))
	_ = append(b.Header(), 'x')
	if string(b.Payload()) != "abc" {
		t.Error("append to the header wrote into the payload")
	}
	if cap(b.Bytes()) != dgram.Size || cap(b.Payload()) != dgram.Size-dgram.HeaderSize {
		t.Errorf("capacities %d, %d", cap(b.Bytes()), cap(b.Payload()))
	}
}
