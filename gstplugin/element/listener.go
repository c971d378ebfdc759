package element

import (
	"context"
	"net"
	"net/netip"
	"time"

	"github.com/weirline/weirline/gstplugin/props"
	"github.com/weirline/weirline/srtcore"
)

// lookupTime bounds the look-up of a local address given as a host name.
const lookupTime = 2 * time.Second

// listen binds the port. The error is a *Report.
func (r *run) listen() error {
	ctx, cancel := context.WithTimeout(r.ctx, lookupTime)
	defer cancel()
	cfg := r.cfg.SRT
	cfg.OnRequest = r.decide
	ln, err := srtcore.Listen(ctx, r.cfg.Addr, &cfg)
	if err != nil {
		rep := r.judgeListen(err)
		return &rep
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping() { // by the handler of a warning
		_ = ln.Close()
	}
	r.ln = ln
	return nil
}

// keepAccepting serves callers until the element stops.
func (r *run) keepAccepting() {
	for {
		c, err := r.ln.Accept(r.ctx)
		if err != nil {
			if !r.stopping() {
				r.fail(r.judge(err, false).report)
			}
			return
		}
		r.serve(c)
	}
}

// serve takes a caller in, unless another was quicker since it was asked about.
func (r *run) serve(c *srtcore.Conn) {
	if r.full() != 0 {
		_ = c.Abort()
		return
	}
	if r.side == props.Source {
		r.dismissAll()
	}
	p := r.add(c)
	if p == nil {
		return
	}
	r.emit(func(h Host) { h.CallerAdded(p.addr) })
	r.Go(func() {
		_ = r.untilEnd(p)
		r.departed(p)
	})
}

// dismissAll ends the caller that another replaces. What it sent and nobody has
// read is dropped: the newcomer's stream begins at once.
func (r *run) dismissAll() {
	for _, p := range r.peers() {
		r.leave(p)
		_ = p.conn.Abort()
	}
}

// departed does what a caller's end means.
func (r *run) departed(p *peer) {
	if !r.leave(p) || r.side == props.Sink || r.stopping() {
		return
	}
	if r.settings.GetBool(props.KeepListening) {
		r.emit(Host.ConnectionRemoved)
		return
	}
	r.end(EOS)
}

// leave takes a caller out; false: somebody did before.
func (r *run) leave(p *peer) bool {
	if !r.remove(p) {
		return false
	}
	r.emit(func(h Host) { h.CallerRemoved(p.addr) })
	return true
}

// full returns why there is no place for another caller, 0 if there is one.
func (r *run) full() srtcore.RejectReason {
	r.mu.Lock()
	callers, over := len(r.live), r.ended || r.stopping()
	r.mu.Unlock()
	switch {
	case over:
		return srtcore.RejClose
	case r.side == props.Source:
		if callers > 0 && r.settings.GetInt(props.CallerPolicy) == props.PolicyRefuse {
			return srtcore.RejConflict
		}
	default:
		if most := r.settings.GetInt(props.MaxCallers); most > 0 && int64(callers) >= most {
			return srtcore.RejOverload
		}
	}
	return 0
}

// decide is asked about each caller, in a goroutine that the core started.
func (r *run) decide(q *srtcore.ConnRequest) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &srtcore.RejectError{Reason: srtcore.RejInternal}
		}
	}()
	a := addrPort(q.RemoteAddr)
	reason := r.full()
	if reason == srtcore.RejClose {
		return &srtcore.RejectError{Reason: reason}
	}
	if reason == 0 && r.settings.GetBool(props.Authentication) {
		welcome := false
		asked := r.ask(func(h Host) { welcome = h.CallerConnecting(a, q.StreamID) })
		switch {
		case !asked:
			reason = srtcore.RejClose
		case !welcome:
			reason = srtcore.RejUnauthorized
		}
	}
	if reason == 0 {
		return nil
	}
	r.ask(func(h Host) { h.CallerRejected(a, q.StreamID) })
	return &srtcore.RejectError{Reason: reason}
}

func addrPort(a *net.UDPAddr) netip.AddrPort {
	ap := a.AddrPort()
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}
