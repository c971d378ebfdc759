package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// churned is the line of churn.
type churned struct {
	Role      string  `json:"role"`
	Connects  int     `json:"connects"`
	Failures  int     `json:"failures"`
	Failure   string  `json:"first_failure,omitempty"`
	Sent      int     `json:"sent_msgs"`
	PerSecond float64 `json:"connects_per_s"`
	P99       float64 `json:"connect_p99_ms"`
}

// perConnection is what each connection of a storm sends.
const perConnection = 5

// churn connects, sends a little, and leaves, over and over, each time with a
// new stream id; every other connection leaves without draining.
func churn(ctx context.Context, o options) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, o.hold())
	defer cancel()
	var mu sync.Mutex
	var took []float64
	line := churned{Role: "churn"}
	begun := time.Now()
	ready("")
	var wg sync.WaitGroup
	for w := range o.workers {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				at := time.Now()
				sent, err := visit(ctx, o, fmt.Sprintf("#!::r=storm/%d-%d,m=publish", w, i), i%2 == 0)
				if ctx.Err() != nil {
					return
				}
				mu.Lock()
				line.Connects++
				line.Sent += sent
				took = append(took, time.Since(at).Seconds()*1e3)
				if err != nil {
					line.Failures++
					line.Failure = err.Error()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	line.PerSecond = float64(line.Connects) / time.Since(begun).Seconds()
	slices.Sort(took)
	if len(took) > 0 {
		line.P99 = took[len(took)*99/100]
	}
	return line, nil
}

// visit is one connection.
func visit(ctx context.Context, o options, id string, drain bool) (sent int, err error) {
	cfg := o.config()
	cfg.StreamID = id
	cfg.RcvLatency, cfg.PeerLatency = 20*time.Millisecond, 20*time.Millisecond
	c, err := srtcore.Dial(ctx, o.addr(), &cfg)
	if err != nil {
		return 0, err
	}
	m := make([]byte, messageSize)
	binary.LittleEndian.PutUint32(m, plainMagic)
	for i := range perConnection {
		binary.LittleEndian.PutUint64(m[8:], uint64(i))
		binary.LittleEndian.PutUint32(m[24:], checksum(m, 24))
		if _, err := c.Write(m); err != nil {
			c.Abort()
			return i, err
		}
	}
	if !drain {
		c.Abort()
		return perConnection, nil
	}
	return perConnection, c.Close()
}
