package endpoint

import (
	"sync/atomic"

	"github.com/weirline/weirline/srtcore"
)

const (
	srtBatch      = 64
	maxSRTMessage = srtcore.MaxMSS
	// packetOverhead is what the IP, UDP and SRT headers take of the MSS.
	packetOverhead = 20 + 8 + 16
)

// session is what both directions of an SRT connection show.
type session struct{ c *srtcore.Conn }

// Conn is the connection itself.
func (s session) Conn() *srtcore.Conn { return s.c }

// Peer is the other side's address.
func (s session) Peer() string { return s.c.RemoteAddr().String() }

// Done is closed when the connection has ended.
func (s session) Done() <-chan struct{} { return s.c.Done() }

// Err is why it has ended.
func (s session) Err() error { return s.c.Err() }

// SRTStats are the connection's counters.
func (s session) SRTStats() srtcore.Stats { return s.c.Stats() }

type srtSource struct {
	session
	room     [][]byte // full-length buffers behind each batch
	got      [][]byte
	replaced atomic.Bool
}

func newSRTSource(c *srtcore.Conn) *srtSource {
	s := &srtSource{session: session{c}, room: make([][]byte, srtBatch), got: make([][]byte, srtBatch)}
	all := make([]byte, srtBatch*maxSRTMessage)
	for i := range s.room {
		s.room[i] = all[i*maxSRTMessage : (i+1)*maxSRTMessage : (i+1)*maxSRTMessage]
	}
	return s
}

// ReadBatch implements Source. After the peer's SHUTDOWN it goes on with what
// the connection still holds.
func (s *srtSource) ReadBatch(dst [][]byte) (int, error) {
	k := copy(s.got[:min(len(dst), srtBatch)], s.room)
	n, err := s.c.ReadBatch(s.got[:k])
	if err != nil && s.replaced.Load() {
		err = errReplaced
	}
	return copy(dst, s.got[:n]), err
}

// replace ends the session in favour of another.
func (s *srtSource) replace() {
	s.replaced.Store(true)
	_ = s.c.Abort()
}

// Close implements Source.
func (s *srtSource) Close() error { return s.c.Close() }
