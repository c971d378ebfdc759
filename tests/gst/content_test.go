package gst

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const (
	tsPacket = 188
	message  = 7 * tsPacket // what a live sender puts into one packet
)

// transportStream makes n messages of random MPEG-TS packets: each starts with
// the sync byte and has an allowed header, the rest is noise.
func transportStream(seed byte, n int) []byte {
	noise := rand.NewChaCha8([32]byte{seed})
	b := make([]byte, n*message)
	_, _ = noise.Read(b)
	for i := 0; i < len(b); i += tsPacket {
		b[i], b[i+1], b[i+2] = 0x47, 0x01, 0x00
		b[i+3] = 0x10 | byte(i/tsPacket&15)
	}
	return b
}

// writeInput writes n messages into a file of the test and returns its name.
func writeInput(t *testing.T, seed byte, n int) (name string, data []byte) {
	t.Helper()
	data = transportStream(seed, n)
	name = filepath.Join(t.TempDir(), "in.ts")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name, data
}

// collector keeps what a receiver gives out.
type collector struct {
	mu   sync.Mutex
	data []byte
	last time.Time
}

func newCollector() *collector { return &collector{last: time.Now()} }

func (c *collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.data = append(c.data, b...)
	c.last = time.Now()
	return len(b), nil
}

func (c *collector) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.data)
}

func (c *collector) size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.data)
}

// settled says that nothing came for so long.
func (c *collector) settled(quiet time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.last) > quiet
}

// part is what of the sent bytes must have come.
type part struct {
	lead int // stream headers that may come in front, bytes
	late int // how much may be missing at the start
	tail int // how much may be missing at the end
}

// wantPart compares what came with what was sent: a contiguous part of it, long
// enough at both ends.
func wantPart(t *testing.T, got, sent []byte, p part) {
	t.Helper()
	if err := checkPart(got, sent, p); err != nil {
		t.Error(err)
	}
}

func checkPart(got, sent []byte, p part) error {
	if len(sent) == 0 {
		return fmt.Errorf("nothing was sent")
	}
	for lead := 0; lead <= min(p.lead, len(got)); lead += tsPacket {
		body := got[lead:]
		at := bytes.Index(sent, body)
		if len(body) == 0 || at < 0 || at > p.late {
			continue
		}
		if missing := len(sent) - at - len(body); missing > p.tail {
			return fmt.Errorf("the last %d of %d bytes are missing (%d allowed)", missing, len(sent), p.tail)
		}
		return nil
	}
	at := 0
	for at < len(got) && at < len(sent) && got[at] == sent[at] {
		at++
	}
	return fmt.Errorf("received %d bytes sha256 %x, sent %d sha256 %x; not a part of it that starts within %d bytes; they part at byte %d (message %d)",
		len(got), sha256.Sum256(got), len(sent), sha256.Sum256(sent), p.late, at, at/message)
}
