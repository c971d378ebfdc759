// Package access lets callers in: an SRT port that routes share, each caller
// led to the stream that its stream id names, or refused with a reason.
//
// Lives here: Port and its ends; the rules of a listener (addresses, users,
// passphrases, limits), the hook that is asked, what a stream id means, the
// count and the log of refusals.
// May import: config, endpoint, srtcore, net/http for the hook.
// Never: route, ingest, control, daemon; no payload is touched here.
package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/endpoint"
)

// ErrAddressChanged is Update's answer to another address: the port has to be
// made anew.
var ErrAddressChanged = errors.New("the address of a listener cannot change while it listens")

// A listener with a hook may have many callers that wait for it. Those it need
// not be asked about have a part of the backlog for themselves.
const (
	backlog          = 512
	mostAsking       = backlog * 3 / 4
	mostAskingOfOne  = backlog / 2 // from one address
	mostReady        = 256         // players accepted that no route has taken yet
	mostReadyPublish = 4           // publishers likewise, the older ones having ended
)

// Port is one SRT listener. Publish and Play give streams of it to routes.
type Port struct {
	// OnRefused, if set before Listen, is told of refusals, at most as many as are
	// logged. It must not block.
	OnRefused func(Refusal)

	target *srtcore.Target
	log    *slog.Logger
	tally  tally

	mu       sync.Mutex
	cfg      config.Listener
	rules    *rules
	streams  map[string]*stream
	guests   map[*guest]struct{}
	patrons  patrons
	accepted uint64
	ln       *srtcore.Listener
	closed   bool

	ctx      context.Context // of what goes on for callers
	cancel   context.CancelFunc
	finished chan struct{} // closed when the accepting goroutine has ended
}

// stream is what one name stands for: media comes in, or goes out, or both.
type stream struct{ publish, play *end }

// NewPort returns a Port that does not listen yet.
func NewPort(cfg config.Listener, log *slog.Logger) (*Port, error) {
	target, err := cfg.Target()
	if err != nil {
		return nil, err
	}
	r, err := compile(cfg)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	p := &Port{
		target: target, cfg: cfg, rules: r, log: log.With("listener", cfg.Name),
		streams: map[string]*stream{}, guests: map[*guest]struct{}{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	c := &target.Config
	r.inURL = config.Secret(c.Passphrase)
	c.Passphrase = "" // each caller gets his own
	c.OnRequest = p.request
	endpoint.Record(target, cfg.Address)
	if c.Backlog == srtcore.DefaultConfig().Backlog {
		c.Backlog = backlog
	}
	return p, nil
}

// Listen binds the address and lets callers in. A second call does nothing.
func (p *Port) Listen(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return net.ErrClosed
	}
	if p.ln != nil {
		return nil
	}
	ln, err := p.target.Listen(ctx)
	if err != nil {
		return fmt.Errorf("listener %q: %w", p.cfg.Name, err)
	}
	p.ln = ln
	p.finished = make(chan struct{})
	p.log.Info("listening", "addr", ln.Addr().String())
	go p.accept(ln, p.finished)
	return nil
}

func (p *Port) accept(ln *srtcore.Listener, finished chan struct{}) {
	defer close(finished)
	for {
		c, err := ln.Accept(p.ctx)
		if err != nil {
			return
		}
		p.seat(c)
	}
}

// Publish returns the end that media comes from which callers publish as ref.
func (p *Port) Publish(ref config.Ref) (endpoint.SourceEnd, error) {
	e, err := p.add(ref, modePublish)
	if err != nil {
		return nil, err
	}
	return publishEnd{e}, nil
}

// Play returns the end whose sessions are the callers that play ref.
func (p *Port) Play(ref config.Ref) (endpoint.SinkEnd, error) {
	e, err := p.add(ref, modePlay)
	if err != nil {
		return nil, err
	}
	return playEnd{e}, nil
}

func (p *Port) add(ref config.Ref, m mode) (*end, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, net.ErrClosed
	case ref.Stream == "":
		return nil, fmt.Errorf("listener %q: a stream needs a name", p.cfg.Name)
	}
	s := p.streams[ref.Stream]
	if s == nil {
		s = &stream{}
		p.streams[ref.Stream] = s
	}
	place := s.place(m)
	if *place != nil {
		return nil, fmt.Errorf("listener %q: stream %q has a route to %s it already: give it another name", p.cfg.Name, ref.Stream, m)
	}
	*place = newEnd(p, ref, m)
	return *place, nil
}

func (s *stream) place(m mode) **end {
	if m == modePublish {
		return &s.publish
	}
	return &s.play
}

// Update changes the rules for callers to come. Who is connected stays.
func (p *Port) Update(cfg config.Listener) error {
	r, err := compile(cfg)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cfg.Address != p.cfg.Address {
		return ErrAddressChanged
	}
	r.inURL = p.rules.inURL
	if r.hook != nil && p.rules.hook.same(r.hook) {
		r.hook = p.rules.hook
	} else {
		p.rules.hook.close()
	}
	p.cfg, p.rules = cfg, r
	return nil
}

// Snapshot is how a Port stands.
type Snapshot struct {
	Name        string            `json:"name"`
	Address     string            `json:"address"` // as bound, once it is
	Connections int               `json:"connections"`
	Accepted    uint64            `json:"accepted"` // ever
	Refused     map[string]uint64 `json:"refused"`  // ever, by reason
}

// Snapshot says how the port stands.
func (p *Port) Snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Snapshot{Name: p.cfg.Name, Address: p.target.Addr, Accepted: p.accepted, Refused: p.tally.counts()}
	if p.ln != nil {
		s.Address = p.ln.Addr().String()
	}
	p.sweep(time.Now())
	for g := range p.guests {
		if g.state == seated {
			s.Connections++
		}
	}
	return s
}

// Close stops listening. Callers that a route has taken stay connected; all
// others are turned away. It waits for nothing but the listener itself.
func (p *Port) Close() {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return
	}
	p.closed = true
	ln, finished := p.ln, p.finished
	var ends []*end
	for _, s := range p.streams {
		ends = append(ends, s.publish, s.play)
	}
	p.rules.hook.close()
	p.mu.Unlock()

	p.cancel()
	for _, e := range ends {
		if e != nil {
			_ = e.Close()
		}
	}
	if ln != nil {
		_ = ln.Close()
		<-finished
	}
}
