package execwrap

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/ingest"
	"github.com/weirline/weirline/sidecar/route"
)

// Sidecar serves the SRT addresses of one program on loopback ports. Only
// processes of the same user may connect, and only who knows the path.
type Sidecar struct {
	ln   *doors
	path string
	ends []string // the addresses, in the order of their numbers
	// inputs are the numbers of those that are asked for once.
	inputs []int

	handler ingest.Handler
	cancel  context.CancelFunc
	ending  context.CancelFunc
	served  chan error

	mu     sync.Mutex
	errs   []error // of streams that failed when the program could not know any more
	routes []*route.Route
}

// New returns a Sidecar that serves nothing yet.
func New() (*Sidecar, error) {
	key := make([]byte, 16)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	return &Sidecar{ln: newDoors(), path: "/" + hex.EncodeToString(key) + "/", served: make(chan error, 1)}, nil
}

// URL stands for the i-th address. The user name makes FFmpeg wait, before it
// sends, until SRT is connected, and tell a refusal.
func (s *Sidecar) URL(i int) string {
	return "http://weirline@" + s.ln.addr(i) + s.path + strconv.Itoa(i)
}

// Options are what Serve needs to know.
type Options struct {
	Log        *slog.Logger
	GiveUp     time.Duration // end a stream without a peer for so long; 0: never
	Reconnect  bool          // false: a connection's end is the stream's
	Passphrase string        // of addresses without one
	Inputs     []int         // addresses that are asked for once
}

// Check says what is wrong with the addresses of a plan.
func Check(addresses []string, o Options) error {
	for _, a := range addresses {
		if _, err := parse(a, o.Passphrase); err != nil {
			return fmt.Errorf("%s: %w", shown(a), err)
		}
	}
	return nil
}

// Serve begins to serve the addresses of a plan. Each is checked first.
func (s *Sidecar) Serve(addresses []string, o Options) error {
	if err := errors.Join(Check(addresses, o), s.ln.err); err != nil {
		return err
	}
	s.inputs = o.Inputs
	for _, a := range addresses {
		if !o.Reconnect {
			a += "&reconnect=0"
		}
		s.ends = append(s.ends, a)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ending, end := context.WithCancel(ctx)
	s.cancel, s.ending = cancel, end
	s.handler = ingest.Handler{
		Target: s.target, AwaitCaller: true, Retire: ending.Done(), Ending: ending, Ended: s.ended, GiveUp: o.GiveUp, Log: o.Log, Register: s.register,
		Parse: func(raw string) (ingest.End, error) { return parse(raw, o.Passphrase) },
	}
	go func() { s.served <- s.handler.Serve(ctx, s.ln) }()
	return nil
}

// quiet keeps the warnings to itself: they are about our units, and the notes
// of the Plan are about the program's.
type quiet struct{ *endpoint.SRT }

func (quiet) Warnings() []string { return nil }

func parse(raw, passphrase string) (ingest.End, error) {
	end, err := endpoint.ParseSRT(raw)
	if err != nil {
		return nil, err
	}
	if passphrase != "" {
		if err := end.SetPassphrase(passphrase); err != nil {
			return nil, err
		}
	}
	return quiet{end}, nil
}

var errNoSuchAddress = errors.New("no such address")

// target finds the number behind the path, before a file name extension.
func (s *Sidecar) target(uri string) (string, error) {
	number, ok := strings.CutPrefix(uri, s.path)
	number, _, _ = strings.Cut(number, ".")
	i, err := strconv.Atoi(number)
	if !ok || err != nil || i < 0 || i >= len(s.ends) {
		return "", errNoSuchAddress
	}
	if slices.Contains(s.inputs, i) {
		s.ln.shut(i)
	}
	return s.ends[i], nil
}

func (s *Sidecar) ended(o ingest.Outcome) {
	if o.Err == nil || o.Told && !errors.Is(o.Err, route.ErrGaveUp) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, o.Err)
}

// Routes says how the streams stand, in the order in which they began.
func (s *Sidecar) Routes() (all []route.Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.routes {
		all = append(all, r.Snapshot())
	}
	return all
}

func (s *Sidecar) register(r *route.Route) (unregister func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes = append(s.routes, r)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if i := slices.Index(s.routes, r); i >= 0 {
			s.routes = slices.Delete(s.routes, i, i+1)
		}
	}
}

// EndStreams says that the program is about to end: it gets no more media, and
// what it sends is taken to its end.
func (s *Sidecar) EndStreams() { s.ending() }

// Close is for when the program has ended: it delivers what is left, for at most
// d or until hurry ends, and returns the error that the program could not see.
func (s *Sidecar) Close(hurry context.Context, d time.Duration) error {
	if s.cancel == nil {
		return s.ln.Close()
	}
	s.ending()
	defer s.cancel()
	bound, cancel := context.WithTimeout(hurry, d)
	defer cancel()
	select {
	case err := <-s.served:
		return s.result(err)
	case <-bound.Done():
	}
	s.cancel()
	select {
	case err := <-s.served:
		return s.result(err)
	case <-hurry.Done():
		return fmt.Errorf("media was not delivered: %w", context.Cause(hurry))
	}
}

func (s *Sidecar) result(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(append(s.errs, err)...)
}
