package interop

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

const (
	tsPacket = 188
	message  = 7 * tsPacket // what a live sender puts into one packet
)

// transportStream makes n messages of random MPEG-TS packets: each starts with
// the sync byte and has an allowed header, the rest is noise that no program
// has seen before.
func transportStream(seed uint64, n int) []byte {
	var key [32]byte
	key[0] = byte(seed)
	key[1] = byte(seed >> 8)
	noise := rand.NewChaCha8(key)
	b := make([]byte, n*message)
	_, _ = noise.Read(b)
	for i := 0; i < len(b); i += tsPacket {
		b[i] = 0x47
		b[i+1] = 0x01 // PID 0x100
		b[i+2] = 0x00
		b[i+3] = 0x10 | byte(i/tsPacket&15) // payload only, continuity counter
	}
	return b
}

// pace writes data message by message at a constant rate.
func pace(w io.Writer, data []byte, bitsPerSecond float64) error {
	return paceBy(w, data, message, bitsPerSecond)
}

func paceBy(w io.Writer, data []byte, size int, bitsPerSecond float64) error {
	start := time.Now()
	for i := 0; i < len(data); i += size {
		due := time.Duration(float64(i) * 8 / bitsPerSecond * float64(time.Second))
		time.Sleep(due - time.Since(start))
		if _, err := w.Write(data[i:min(i+size, len(data))]); err != nil {
			return fmt.Errorf("after %d of %d bytes: %w", i, len(data), err)
		}
	}
	return nil
}

// collector keeps what a receiver gives out.
type collector struct {
	want int // bytes
	mu   sync.Mutex
	data []byte
	full chan struct{} // closed when want bytes are there
	done chan struct{} // closed at the end of the input
}

func newCollector(want int) *collector {
	return &collector{want: want, full: make(chan struct{}), done: make(chan struct{})}
}

// Write takes a piece.
func (c *collector) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	had := len(c.data)
	c.data = append(c.data, b...)
	if had < c.want && len(c.data) >= c.want {
		close(c.full)
	}
	return len(b), nil
}

func (c *collector) end() { close(c.done) }

// wait returns when everything is there, when no more will come, or when it has
// taken too long.
func (c *collector) wait() {
	select {
	case <-c.full:
	case <-c.done:
	case <-time.After(proctest.Patience):
	}
}

func (c *collector) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return bytes.Clone(c.data)
}

// wantPrefix compares what came with what was sent: at least want bytes of it,
// and nothing else. It says where they part.
func wantPrefix(t *testing.T, got, sent []byte, want int) {
	t.Helper()
	if len(got) >= want && bytes.HasPrefix(sent, got) {
		return
	}
	at := 0
	for at < len(got) && at < len(sent) && got[at] == sent[at] {
		at++
	}
	t.Errorf("received %d bytes sha256 %x, sent %d of which %d must come, their sha256 %x; they part at byte %d (message %d)",
		len(got), sha256.Sum256(got), len(sent), want, sha256.Sum256(sent[:want]), at, at/message)
}
