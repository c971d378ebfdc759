package element

import (
	"io"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// queueMax is how many connections of a source may wait to be read, all but the
// last of them over already: a paused pipeline must not collect them for ever.
const queueMax = 4

// add takes a connection in; nil: the element stops, and it was ended.
func (r *run) add(c *srtcore.Conn) *peer {
	p := newPeer(c)
	if !r.enlist(p) {
		_ = c.Abort()
		return nil
	}
	if r.side == props.Source {
		r.setLatency(c.RcvLatency())
	}
	return p
}

func (r *run) enlist(p *peer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping() || r.ended {
		return false
	}
	r.live = append(r.live[:len(r.live):len(r.live)], p)
	if r.side == props.Source {
		if len(r.queue) == queueMax {
			r.queue = r.queue[1:]
		}
		r.queue = append(r.queue, p)
	}
	if r.unlocked {
		r.hold(p, true)
	}
	r.warned, r.met = "", true
	r.notify()
	return true
}

// remove takes a connection out of those that live; false: somebody did already.
func (r *run) remove(p *peer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, q := range r.live {
		if q == p {
			rest := append([]*peer(nil), r.live[:i]...)
			r.live = append(rest, r.live[i+1:]...)
			r.notify()
			return true
		}
	}
	return false
}

// peers returns the live connections, which must not be changed.
func (r *run) peers() []*peer {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live
}

// latency is the negotiated one, before that the property.
func (r *run) latency() time.Duration {
	r.mu.Lock()
	d := r.negotiated
	r.mu.Unlock()
	if d >= 0 {
		return d
	}
	return propertyLatency(r.settings)
}

func propertyLatency(s *props.Settings) time.Duration {
	return time.Duration(s.GetInt(props.Latency)) * time.Millisecond
}

// setLatency notes the latency of a new connection and tells if it is another.
func (r *run) setLatency(d time.Duration) {
	before := r.latency()
	r.mu.Lock()
	r.negotiated = d
	r.mu.Unlock()
	if d != before && !r.stopping() {
		r.emit(Host.LatencyChanged)
	}
}

// untilEnd waits for the end of a connection and returns why it ended. What a
// sink's peer sends is of no use and must not pile up.
func (r *run) untilEnd(p *peer) error {
	if r.side == props.Sink {
		return p.discard()
	}
	<-p.conn.Done()
	return p.conn.Err()
}

func (p *peer) discard() error {
	var ms [16]srtcore.Message
	for {
		n, err := p.conn.ReceiveBatch(ms[:])
		switch {
		case err == io.EOF:
			return srtcore.ErrPeerClosed
		case err != nil:
			return err
		}
		p.conn.Release(ms[:n])
	}
}

// hold makes the streaming thread's calls on a connection return at once.
func (r *run) hold(p *peer, on bool) {
	var t time.Time
	if on {
		t = time.Unix(1, 0)
	}
	if r.side == props.Source {
		_ = p.conn.SetReadDeadline(t)
	} else {
		_ = p.conn.SetWriteDeadline(t)
	}
}
