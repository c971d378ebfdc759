package access

import (
	"maps"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Refusal is a caller turned away.
type Refusal struct {
	// Reason is a word: address, stream-id, user, permission, stream, mode,
	// passphrase, limit, busy, hook, hook-failed, closing, timeout.
	Reason string
	Code   srtcore.RejectReason // what the caller is told
	Text   string               // for people

	Peer, Stream, Mode, User string
}

func refuse(reason string, code srtcore.RejectReason, text string) *Refusal {
	return &Refusal{Reason: reason, Code: code, Text: text}
}

// about completes the refusal with who was refused.
func (r *Refusal) about(g *guest) *Refusal {
	r.Peer, r.Stream, r.Mode, r.User = g.from.String(), shownName(g.stream), g.mode.String(), shownName(g.user)
	return r
}

// refused counts and, unless there were many of its kind lately, logs.
func (p *Port) refused(r *Refusal) {
	show, unlogged := p.tally.add(r.Reason, time.Now())
	if !show {
		return
	}
	attrs := []any{"reason", r.Reason, "code", int(r.Code), "peer", r.Peer, "stream", r.Stream, "mode", r.Mode, "why", r.Text}
	if r.User != "" {
		attrs = append(attrs, "user", r.User)
	}
	if unlogged > 0 {
		attrs = append(attrs, "unlogged", unlogged)
	}
	p.log.Warn("caller refused", attrs...)
	if p.OnRefused != nil {
		p.OnRefused(*r)
	}
}

// So many refusals of one reason are logged in so much time.
const (
	logBurst  = 5
	logWindow = 10 * time.Second
)

// tally counts refusals by reason and says which to log.
type tally struct {
	mu    sync.Mutex
	count map[string]uint64
	lines map[string]*lines
}

type lines struct {
	since    time.Time
	shown    int
	unlogged int
}

func (t *tally) add(reason string, now time.Time) (show bool, unlogged int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.count == nil {
		t.count, t.lines = map[string]uint64{}, map[string]*lines{}
	}
	t.count[reason]++
	l := t.lines[reason]
	if l == nil || now.Sub(l.since) >= logWindow {
		if l != nil {
			unlogged = l.unlogged
		}
		l = &lines{since: now}
		t.lines[reason] = l
	}
	if l.shown == logBurst {
		l.unlogged++
		return false, 0
	}
	l.shown++
	return true, unlogged
}

func (t *tally) counts() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := maps.Clone(t.count)
	if out == nil {
		out = map[string]uint64{}
	}
	return out
}
