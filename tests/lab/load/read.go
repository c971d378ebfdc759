package main

import (
	"context"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// received is the line of everything that receives.
type received struct {
	Role      string  `json:"role"`
	Conns     int     `json:"conns"`
	Ended     int     `json:"ended"` // connections that ended
	Bytes     uint64  `json:"delivered_bytes"`
	Msgs      uint64  `json:"msgs"`
	Gaps      uint64  `json:"gaps"`
	Dup       uint64  `json:"dup_or_reorder"`
	Corrupt   uint64  `json:"corrupt"`
	MinStream uint64  `json:"min_stream_msgs"`
	MaxStream uint64  `json:"max_stream_msgs"`
	P50       float64 `json:"lat_p50_ms"`
	P99       float64 `json:"lat_p99_ms"`
	P999      float64 `json:"lat_p999_ms"`
	Max       float64 `json:"lat_max_ms"`
	Late      uint64  `json:"late"` // messages beyond the limit
}

// reader reads many connections with one goroutine.
type reader struct {
	poller *srtcore.Poller
	tally  map[*srtcore.Conn]*tally
	bytes  map[*srtcore.Conn][]byte // of a message not yet whole; transport streams only
	ts     bool
	lat    *delays
	limit  int64 // ns; a message that takes longer is late; 0: none is
	late   uint64
	ended  int
	bare   bool  // forget connections that ended: a storm has many
	gone   tally // of those
	room   [][]byte
	batch  [][]byte
	ready  []*srtcore.Conn
}

const readBatch = 32

func newReader(ts bool) *reader {
	r := &reader{
		poller: srtcore.NewPoller(), tally: map[*srtcore.Conn]*tally{}, bytes: map[*srtcore.Conn][]byte{},
		ts: ts, lat: &delays{}, room: make([][]byte, readBatch), batch: make([][]byte, readBatch),
	}
	for i := range r.room {
		r.room[i] = make([]byte, srtcore.MaxMSS)
	}
	return r
}

func (r *reader) add(c *srtcore.Conn) {
	r.tally[c] = &tally{}
	r.poller.Add(c)
}

// restart forgets what was counted, but not where each stream stands.
func (r *reader) restart() {
	for _, t := range r.tally {
		*t = tally{begun: t.begun, next: t.next}
	}
	r.lat, r.late = &delays{}, 0
}

func (r *reader) delay(ns int64) {
	r.lat.add(ns)
	if r.limit > 0 && ns > r.limit {
		r.late++
	}
}

// until reads until the time or the end of ctx.
func (r *reader) until(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for ctx.Err() == nil {
		var err error
		r.ready, err = r.poller.Wait(ctx, r.ready[:0])
		for _, c := range r.ready {
			r.drain(c)
		}
		if err != nil {
			return
		}
	}
}

func (r *reader) drain(c *srtcore.Conn) {
	for {
		copy(r.batch, r.room)
		n, err := c.TryReadBatch(r.batch)
		at := now()
		for _, m := range r.batch[:n] {
			r.take(c, m, at)
		}
		if err != nil {
			r.poller.Remove(c)
			c.Abort()
			r.ended++
			r.forget(c)
			return
		}
		if n < readBatch {
			return
		}
	}
}

// forget drops the record of a connection that ended and keeps its sums.
func (r *reader) forget(c *srtcore.Conn) {
	if !r.bare {
		return
	}
	t := r.tally[c]
	r.gone.msgs += t.msgs
	r.gone.corrupt += t.corrupt
	delete(r.tally, c)
}

func (r *reader) take(c *srtcore.Conn, m []byte, at int64) {
	t := r.tally[c]
	if !r.ts {
		s, ok := checkPlain(m)
		t.take(s, ok)
		if ok {
			r.delay(at - s.sent)
		}
		return
	}
	held := append(r.bytes[c], m...)
	for ; len(held) >= messageSize; held = held[messageSize:] {
		s, ok := checkTS(held[:messageSize])
		t.take(s, ok)
		if ok {
			r.delay(at - s.sent)
		}
	}
	r.bytes[c] = append(r.bytes[c][:0], held...)
}

func (r *reader) report(role string) received {
	out := received{
		Role: role, Conns: len(r.tally), Ended: r.ended,
		P50: r.lat.quantile(.5), P99: r.lat.quantile(.99), P999: r.lat.quantile(.999), Max: float64(r.lat.max) / 1e6, Late: r.late,
	}
	first := true
	for _, t := range r.tally {
		out.Msgs += t.msgs
		out.Gaps += t.gaps
		out.Dup += t.dup
		out.Corrupt += t.corrupt
		if first {
			out.MinStream, first = t.msgs, false
		}
		out.MinStream, out.MaxStream = min(out.MinStream, t.msgs), max(out.MaxStream, t.msgs)
	}
	out.Bytes = out.Msgs * messageSize
	return out
}
