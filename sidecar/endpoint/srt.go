package endpoint

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// SRT is an end that speaks SRT, as caller or listener. Its URL is srtcore's,
// with two keys of our own: reconnect (default 1; 0: the connection's end is
// the route's end) and listen_timeout (how long a listener waits for a caller
// each time; default: for ever).
type SRT struct {
	target        *srtcore.Target // as the URL has it
	records       int             // of the flight recorder
	again         bool
	listenTimeout time.Duration

	mu sync.Mutex
	ln *srtcore.Listener

	next succession // of the caller of a listening source
}

// ErrNoCaller ends a listener that nobody called within its listen_timeout.
var ErrNoCaller = errors.New("nobody called within listen_timeout")

// ParseSRT reads an srt:// URL.
func ParseSRT(raw string) (*SRT, error) {
	rest, query := splitQuery(raw)
	query, own := extract(query, "reconnect", "listen_timeout")
	if query != "" {
		rest += "?" + query
	}
	t, err := srtcore.ParseURL(rest)
	if err != nil {
		return nil, err
	}
	e := &SRT{target: t, again: true}
	recording := *t
	Record(&recording, rest)
	e.records = recording.Config.TraceRecords
	return e, e.setOwn(own)
}

func (e *SRT) setOwn(own map[string]string) (err error) {
	if v, ok := own["reconnect"]; ok {
		if e.again, err = parseBool("reconnect", v); err != nil {
			return err
		}
	}
	if v, ok := own["listen_timeout"]; ok {
		e.listenTimeout, err = parseDuration("listen_timeout", v)
	}
	return err
}

// SetPassphrase gives the end a passphrase that its URL does not have, so that
// it need not stand in a command line. A URL's own stays.
func (e *SRT) SetPassphrase(p string) error {
	if e.target.Config.Passphrase != "" {
		return nil
	}
	e.target.Config.Passphrase = p
	return e.target.Config.Validate()
}

// URL implements End. The passphrase is not in it.
func (e *SRT) URL() string { return e.target.URL() }

// Listens reports whether callers come to this end.
func (e *SRT) Listens() bool { return e.target.Mode == srtcore.ModeListener }

// Addr is the host:port called or listened on, as the URL has it.
func (e *SRT) Addr() string { return e.target.Addr }

// PayloadSize is the longest message this end sends.
func (e *SRT) PayloadSize() int {
	if n := e.target.Config.PayloadSize; n > 0 {
		return n
	}
	return max(e.target.Config.MSS-packetOverhead, 1)
}

// Warnings are remarks on odd but legal values, for the log.
func (e *SRT) Warnings() []string { return e.target.Warnings }

// Traits implements End.
func (e *SRT) Traits() Traits {
	return Traits{Listens: e.Listens(), Again: e.again, Last: !e.again}
}

// TraceRecords is how many records the flight recorder of a connection keeps if
// its URL says nothing else: 128 KiB, as far as there is something to record.
const TraceRecords = 4096

// Record gives a target a flight recorder, unless raw, its URL, says something about
// it: tracerecords=0 is none.
func Record(t *srtcore.Target, raw string) {
	_, query := splitQuery(raw)
	if _, said := extract(query, "tracerecords"); len(said) == 0 {
		t.Config.TraceRecords = TraceRecords
	}
}

// recording is the target with its flight recorder.
func (e *SRT) recording() *srtcore.Target {
	t := *e.target
	t.Config.TraceRecords = e.records
	return &t
}

// Listen implements Binder.
func (e *SRT) Listen(ctx context.Context) error {
	if !e.Listens() {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln != nil {
		return nil
	}
	ln, err := e.recording().Listen(ctx)
	if err != nil {
		return err
	}
	e.ln = ln
	return nil
}

// Files are duplicates of the listening sockets, for another process.
func (e *SRT) Files() ([]*os.File, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln == nil {
		return nil, nil
	}
	return e.ln.Files()
}

// Retire leaves callers to come to the process that takes over.
func (e *SRT) Retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln != nil {
		e.ln.Retire()
	}
}

// Close implements End.
func (e *SRT) Close() error {
	e.next.close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ln == nil {
		return nil
	}
	return e.ln.Close()
}

// open dials, or waits for the next caller.
func (e *SRT) open(ctx context.Context) (*srtcore.Conn, error) {
	if !e.Listens() {
		return e.recording().Dial(ctx)
	}
	if err := e.Listen(ctx); err != nil {
		return nil, err
	}
	if e.listenTimeout == 0 {
		return e.ln.Accept(ctx)
	}
	wait, cancel := context.WithTimeout(ctx, e.listenTimeout)
	defer cancel()
	c, err := e.ln.Accept(wait)
	if err != nil && wait.Err() != nil && ctx.Err() == nil {
		return nil, ErrNoCaller
	}
	return c, err
}

// OpenSource implements SourceEnd.
func (e *SRT) OpenSource(ctx context.Context) (Source, error) {
	if !e.Listens() || !e.again {
		c, err := e.open(ctx)
		if err != nil {
			return nil, err
		}
		return newSRTSource(c), nil
	}
	c := e.next.take()
	if c == nil {
		var err error
		if c, err = e.open(ctx); err != nil {
			return nil, err
		}
	}
	src := newSRTSource(c)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.next.watch(e.ln, src)
	return src, nil
}

// OpenSink implements SinkEnd.
func (e *SRT) OpenSink(ctx context.Context) (Sink, error) {
	c, err := e.open(ctx)
	if err != nil {
		return nil, err
	}
	return newSRTSink(c), nil
}
