package main

import (
	"context"
	"time"
)

// playersLine is what players print.
type playersLine struct {
	received
	Stalled  int     `json:"stalled"`
	ConnectS float64 `json:"connect_s"`
}

// settle is for the last handshakes and the first latency.
const settle = 1500 * time.Millisecond

// players connects n players, each through a UDP socket of its own, and checks
// what each gets during the steady part. The first stall of them never read.
func players(ctx context.Context, o options) (any, error) {
	begun := time.Now()
	conns, err := connectAll(ctx, o, o.n, ownSocket(o.from))
	if err != nil {
		return nil, err
	}
	took := time.Since(begun).Seconds()
	r := newReader(false)
	r.limit = int64(o.late * 1e6)
	for _, c := range conns[min(o.stall, len(conns)):] {
		r.add(c)
	}
	r.until(ctx, settle+time.Duration(o.latency)*time.Millisecond)
	r.restart()
	ready("%d players in %.2f s", len(conns), took)
	r.until(ctx, o.hold())
	line := playersLine{received: r.report("players"), Stalled: o.stall, ConnectS: took}
	for _, c := range conns {
		c.Abort()
	}
	time.Sleep(200 * time.Millisecond) // the farewells leave
	return line, nil
}
