package element

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// grace is how long Stop waits for handlers of the Host that are under way. A
// handler that itself stops the element would be waited for in vain.
const grace = 60 * time.Millisecond

// run is everything that begins with Start and ends with Stop. What is left of
// it afterwards, a handler that does not return, touches nothing but the run.
type run struct {
	host     Host
	settings *props.Settings
	side     props.Side
	cfg      props.Config
	ctx      context.Context
	cancel   context.CancelFunc
	ln       *srtcore.Listener // of a listener
	onChange func()            // may be nil

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew at every change of what follows
	unlocked bool
	closed   bool // the Host hears nothing more
	live     []*peer
	queue    []*peer // source: those to be read, the oldest first
	ended    bool    // nothing more will come or be taken; final says why
	final    Status

	goroutines int
	calls      int // of the Host, under way
	ownCalls   int // those by the run's goroutines

	met        bool          // there was a connection
	warned     string        // reason of the last warning
	negotiated time.Duration // latency of the last connection, -1 before the first
}

// peer is a connection and what is known of it. The peers in live are never
// changed in place, so that a slice taken once may be read without the lock.
type peer struct {
	conn *srtcore.Conn
	addr netip.AddrPort

	// For the thread that writes only.
	greeted bool // has had the stream headers
	slow    bool // has been warned about
	parts   [][]byte
}

func newPeer(c *srtcore.Conn) *peer {
	p := &peer{conn: c}
	if a, ok := c.RemoteAddr().(*net.UDPAddr); ok {
		p.addr = addrPort(a)
	}
	return p
}

func newRun(h Host, s *props.Settings, side props.Side, cfg props.Config) *run {
	r := &run{host: h, settings: s, side: side, cfg: cfg, changed: make(chan struct{}), negotiated: -1}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// notify wakes everybody who waits, and tells who asked to be told. The lock is
// held.
func (r *run) notify() {
	close(r.changed)
	r.changed = make(chan struct{})
	if r.onChange != nil {
		r.onChange()
	}
}

// wait waits for a change. The lock is held, and given up meanwhile.
func (r *run) wait() {
	ch := r.changed
	r.mu.Unlock()
	<-ch
	r.mu.Lock()
}

// Go starts a goroutine that Stop waits for. A panic in it is an error of the
// element and no more.
func (r *run) Go(f func()) {
	r.mu.Lock()
	r.goroutines++
	r.mu.Unlock()
	go func() {
		defer func() {
			r.mu.Lock()
			r.goroutines--
			r.notify()
			r.mu.Unlock()
		}()
		defer r.recovered()
		f()
	}()
}

// recovered turns a panic into an error. It is deferred.
func (r *run) recovered() {
	p := recover()
	if p == nil {
		return
	}
	defer func() { _ = recover() }() // the Host may be what panics
	r.fail(Report{
		Code: r.code(Read, Write), Reason: "internal error", ReasonCode: int(srtcore.RejInternal),
		Text:  fmt.Sprintf("Internal error: %v. Please report it", p),
		Debug: string(debug.Stack()),
	})
	for _, q := range r.peers() {
		_ = q.conn.Abort()
	}
}

// emit calls the Host from one of the run's goroutines.
func (r *run) emit(f func(Host)) { r.call(true, f) }

// ask calls the Host from a goroutine of somebody else.
func (r *run) ask(f func(Host)) bool { return r.call(false, f) }

// call calls the Host unless the run is over. No lock is held meanwhile.
func (r *run) call(own bool, f func(Host)) bool {
	if !r.countCall(own, 1) {
		return false
	}
	defer r.countCall(own, -1)
	f(r.host)
	return true
}

func (r *run) countCall(own bool, by int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by > 0 && r.closed {
		return false
	}
	r.calls += by
	if own {
		r.ownCalls += by
	}
	if by < 0 {
		r.notify()
	}
	return true
}

// stop ends the connections and waits for the goroutines, and a moment for the
// Host's handlers.
func (r *run) stop() {
	r.cancel()
	r.mu.Lock()
	ln := r.ln
	peers := append(r.queue, r.live...)
	r.queue = nil
	r.notify()
	r.mu.Unlock()
	if ln != nil {
		_ = ln.Close()
	}
	for _, p := range peers {
		_ = p.conn.Abort()
	}
	r.join()
}

func (r *run) join() {
	patience := time.NewTimer(grace)
	defer patience.Stop()
	late := false
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.goroutines > 0 || r.calls > 0 {
		if late && r.goroutines <= r.ownCalls {
			break // all that is left is inside handlers
		}
		ch := r.changed
		r.mu.Unlock()
		select {
		case <-ch:
		case <-patience.C:
			late = true
		}
		r.mu.Lock()
	}
	r.closed = true
	r.notify()
}

// stopping says that Stop was called.
func (r *run) stopping() bool { return r.ctx.Err() != nil }

// sleep returns false if Stop came first.
func (r *run) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// code chooses by side.
func (r *run) code(source, sink Code) Code {
	if r.side == props.Source {
		return source
	}
	return sink
}

// fail ends the element with an error. The Host hears it before the streaming
// thread does, whose own error says less.
func (r *run) fail(rep Report) {
	if r.stopping() {
		return
	}
	r.emit(func(h Host) { h.Error(rep) })
	r.end(Failed)
}

// end is what Read says when all is read, and Write at once.
func (r *run) end(s Status) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.final = true, s
	}
	r.notify()
}

// warn warns once until there is another reason, or a connection in between.
func (r *run) warn(rep Report) {
	r.mu.Lock()
	again := r.warned == rep.Reason
	r.warned = rep.Reason
	r.mu.Unlock()
	if !again && !r.stopping() {
		r.emit(func(h Host) { h.Warning(rep) })
	}
}

// setUnlocked makes what waits return, or lets it wait again.
func (r *run) setUnlocked(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unlocked = on
	for _, p := range append(r.queue[:len(r.queue):len(r.queue)], r.live...) {
		r.hold(p, on)
	}
	r.notify()
}
