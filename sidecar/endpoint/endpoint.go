// Package endpoint knows the ends of a route: how a URL names one, how a
// session with it begins, and how messages go in and out. A route sees only the
// interfaces here and never a socket.
//
// Lives here: Source, Sink and their ends, one file a scheme; why an end could
// not be opened (Failure).
// May import: srtcore, mpegts, net, net/http, os, golang.org/x/net for multicast. Never: hub, route, ingest, control;
// log: errors are returned, their text free of passphrases.
package endpoint

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/weirline/weirline/sidecar/mpegts"
)

// MessageSize is how byte streams are cut: seven transport stream packets.
const MessageSize = mpegts.DefaultMessageSize

// Source is one session that yields messages.
type Source interface {
	// ReadBatch waits for the first message and fills dst with what is there.
	// The messages are valid until the next call. io.EOF is the proper end.
	ReadBatch(dst [][]byte) (int, error)
	// Close ends the session and unblocks ReadBatch. It may be called from any
	// goroutine, more than once.
	Close() error
}

// Sink is one session that takes messages.
type Sink interface {
	// WriteBatch sends the messages in order; it may wait. It keeps none.
	WriteBatch(msgs [][]byte) error
	// Close delivers the tail within the protocol's own bound.
	Close() error
	// Abort ends at once and unblocks WriteBatch and Close. It may be called
	// from any goroutine, more than once.
	Abort()
}

// Traits say how a route treats an end.
type Traits struct {
	// Listens: peers come to this end. Opening waits for the next one; a sink
	// end is opened again while earlier sessions go on.
	Listens bool
	// Again: an end lost is opened again. Otherwise its end is the route's.
	Again bool
	// Last: of a source, the end of a session is the end of the media, as a file's
	// is. It is not opened again even in a route that stands.
	Last bool
	// StartWait is how long a source may wait until the outputs are up;
	// negative: as long as it takes.
	StartWait time.Duration
	// Patience is how long a source may be held up by an output that is up but
	// takes nothing; negative: as long as it takes. While the output takes
	// something, a source with any patience waits for it.
	Patience time.Duration
}

// End is one end of a route, not a session yet.
type End interface {
	URL() string // for people; without secrets
	Traits() Traits
	Close() error // stops listening, removes what Listen made
}

// SourceEnd is an End that media comes from.
type SourceEnd interface {
	End
	OpenSource(ctx context.Context) (Source, error)
}

// SinkEnd is an End that media goes to.
type SinkEnd interface {
	End
	OpenSink(ctx context.Context) (Sink, error)
}

// Binder is an End that can claim its address before the first session, so
// that a taken port is known at once. Listen may be called more than once.
type Binder interface {
	Listen(ctx context.Context) error
}

// ParseSource returns the end that raw names, to receive from.
func ParseSource(raw string) (SourceEnd, error) {
	switch scheme(raw) {
	case "-":
		return Stdin(), nil
	case "srt":
		return ParseSRT(raw)
	case "udp":
		return parseUDP(raw, true)
	case "file":
		return parseFile(raw, true)
	case "unix", "tcp":
		return parseStream(raw, true)
	case "http", "https":
		return parseHTTP(raw, true)
	}
	return nil, unknownScheme(raw)
}

// ParseSink returns the end that raw names, to send to.
func ParseSink(raw string) (SinkEnd, error) {
	switch scheme(raw) {
	case "-":
		return Stdout(), nil
	case "srt":
		return ParseSRT(raw)
	case "udp":
		return parseUDP(raw, false)
	case "file":
		return parseFile(raw, false)
	case "unix", "tcp":
		return parseStream(raw, false)
	case "http", "https":
		return parseHTTP(raw, false)
	}
	return nil, unknownScheme(raw)
}

func scheme(raw string) string {
	if raw == "-" || strings.HasPrefix(raw, "file://con") && len(raw) == len("file://con") {
		return "-"
	}
	s, _, ok := strings.Cut(raw, ":")
	if !ok {
		return ""
	}
	return strings.ToLower(s)
}

// unknownScheme names the scheme only: what follows may hold a passphrase.
func unknownScheme(raw string) error {
	s, _, ok := strings.Cut(raw, ":")
	if !ok {
		return &URLError{Problem: fmt.Sprintf("%q is not a URL: write srt://, udp://, tcp://, unix:, file://, http:// or - (a file is file://%s)", s, s)}
	}
	return &URLError{Problem: fmt.Sprintf("scheme %q is not known: write srt://, udp://, tcp://, unix:, file://, http:// or -", s)}
}

// URLError refuses a URL. Problem never quotes a query.
type URLError struct{ Problem string }

func (e *URLError) Error() string { return e.Problem }
