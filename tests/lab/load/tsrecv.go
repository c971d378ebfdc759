package main

import (
	"context"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// tsrecv accepts n streams of transport stream messages and checks them until
// all have ended or the time is over.
func tsrecv(ctx context.Context, o options) (any, error) {
	cfg := o.config()
	ln, err := srtcore.Listen(ctx, o.addr(), &cfg)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	ready("")
	ctx, cancel := context.WithTimeout(ctx, o.hold()+20*time.Second)
	defer cancel()
	came := make(chan *srtcore.Conn, o.n)
	go func() {
		for range o.n {
			c, err := ln.Accept(ctx)
			if err != nil {
				return
			}
			came <- c
		}
	}()
	r := newReader(true)
	for ctx.Err() == nil && r.ended < o.n {
		select {
		case c := <-came:
			r.add(c)
			continue
		default:
		}
		r.until(ctx, 20*time.Millisecond)
	}
	return r.report("recv"), nil
}
