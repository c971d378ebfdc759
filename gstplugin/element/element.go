package element

import (
	"sync"
	"sync/atomic"

	"github.com/weirline/weirline/gstplugin/props"
)

// element is what a Source and a Sink have in common.
type element struct {
	host     Host
	settings *props.Settings
	side     props.Side
	total    atomic.Uint64 // payload bytes

	onChange func() // see OnChange

	mu       sync.Mutex
	run      *run // nil: stopped
	unlocked bool
}

// OnChange, called before the first Start, gives a function that is called at
// every change after which Readable or Writable may have another answer. Locks are
// held: it must not wait, nor call the element.
func (e *element) OnChange(f func()) { e.onChange = f }

// start opens the element.
func (e *element) start() error {
	cfg, err := e.settings.Snapshot()
	r := newRun(e.host, e.settings, e.side, cfg)
	if err != nil {
		r.cancel()
		return openReport(r.code(OpenRead, OpenWrite), err)
	}
	r.onChange = e.onChange
	if !e.begin(r) {
		r.cancel()
		return &Report{Code: r.code(OpenRead, OpenWrite), Text: "Cannot open: it is open already"}
	}
	for _, w := range e.settings.Warnings() {
		r.ask(func(h Host) { h.Warning(Report{Code: Settings, Text: w, Reason: "bad option"}) })
	}
	if cfg.Mode == props.ModeCaller {
		r.Go(r.keepCalling)
		return nil
	}
	if err := r.listen(); err != nil {
		e.stop()
		return err
	}
	r.Go(r.keepAccepting)
	return nil
}

func (e *element) begin(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != nil {
		return false
	}
	e.run, r.unlocked = r, e.unlocked
	e.settings.SetOpen(true)
	return true
}

func (e *element) current() *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run
}

// stop ends everything that start began. The run stays the current one until it
// has ended, so that handlers see it.
func (e *element) stop() {
	r := e.current()
	if r == nil {
		return
	}
	r.stop()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == r {
		e.run = nil
		e.settings.SetOpen(false)
	}
}

func (e *element) setUnlocked(on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unlocked = on
	if e.run != nil {
		e.run.setUnlocked(on)
	}
}

// Unlock makes what waits return Flushing, now and until UnlockStop.
func (e *element) Unlock() { e.setUnlocked(true) }

// UnlockStop ends what Unlock began.
func (e *element) UnlockStop() { e.setUnlocked(false) }

// Stop ends everything that Start began and waits for that. It does not wait for
// the network: what was written and not yet sent is lost, see Drain.
func (e *element) Stop() { e.stop() }

// Stats returns the counters; they may be asked for at any time, by any thread.
func (e *element) Stats() Stats {
	st := Stats{Total: e.total.Load()}
	r := e.current()
	if r == nil {
		return st
	}
	st.Listener = r.cfg.Mode == props.ModeListener
	for _, p := range r.peers() {
		st.Conns = append(st.Conns, ConnStats{Caller: p.addr, Fields: fields(p.conn.Stats())})
	}
	return st
}
