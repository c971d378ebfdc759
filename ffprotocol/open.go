package ffprotocol

import (
	"context"
	"fmt"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// OpenReader connects as the URL says and returns what a demuxer reads. The URL
// is read by srtcore.ParseURL: latencies are in milliseconds, and
// srt://:9000?mode=listener waits for one caller. Its option timeout bounds each
// Read.
//
// The end of ctx ends the attempt, and afterwards the connection: a Read that
// blocks returns within milliseconds. A time limit for the attempt alone is the
// URL's conntimeo for a caller; to set one for a listener, accept the connection
// yourself and use NewReader.
func OpenReader(ctx context.Context, url string) (*Reader, error) {
	conn, timeout, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	r := NewReader(ctx, conn)
	r.timeout = timeout
	return r, nil
}

// OpenWriter connects as the URL says and returns what a muxer writes to; see
// OpenReader.
func OpenWriter(ctx context.Context, url string) (*Writer, error) {
	conn, timeout, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	w := NewWriter(ctx, conn)
	w.timeout = timeout
	return w, nil
}

// open dials, or takes the first caller; the others of a listener find nobody
// from then on.
func open(ctx context.Context, url string) (*srtcore.Conn, time.Duration, error) {
	t, err := srtcore.ParseURL(url)
	if err != nil {
		return nil, 0, fmt.Errorf("ffprotocol: %w", err)
	}
	if t.Mode == srtcore.ModeCaller {
		conn, err := t.Dial(ctx)
		if err != nil {
			return nil, 0, fmt.Errorf("ffprotocol: %w", err)
		}
		return conn, t.Timeout, nil
	}
	l, err := t.Listen(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("ffprotocol: %w", err)
	}
	defer l.Close()
	conn, err := l.Accept(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("ffprotocol: no caller came to %s: %w", t.Addr, err)
	}
	return conn, t.Timeout, nil
}
