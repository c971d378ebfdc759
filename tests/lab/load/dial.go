package main

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// connectAll makes n connections, some at the same time; local, if there is
// one, names the address each starts from.
func connectAll(ctx context.Context, o options, n int, local func(int) string) ([]*srtcore.Conn, error) {
	conns, errs := make([]*srtcore.Conn, n), make([]error, n)
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range min(o.workers, n) {
		wg.Go(func() {
			for i := range jobs {
				cfg := o.config()
				if local != nil {
					cfg.LocalAddr = local(i)
				}
				conns[i], errs[i] = srtcore.Dial(ctx, o.addr(), &cfg)
			}
		})
	}
	for i := range n {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	for i, err := range errs {
		if err != nil {
			return conns, fmt.Errorf("connection %d of %d: %w", i, n, err)
		}
	}
	return conns, nil
}

// ownSocket gives each of up to 4 million callers an address of its own in
// 127/8, and with it a UDP socket of its own, all at one port.
func ownSocket(port int) func(int) string {
	return func(i int) string {
		return net.JoinHostPort(fmt.Sprintf("127.%d.%d.%d", 64+i>>16&63, i>>8&255, i&255), strconv.Itoa(port))
	}
}

// held is the line of dial and listen.
type held struct {
	Role      string  `json:"role"`
	Conns     int     `json:"conns"`
	Lost      int     `json:"lost"` // ended before their time
	ConnectS  float64 `json:"connect_s"`
	PerSecond float64 `json:"connects_per_s"`
}

// dial connects and holds the connections without sending.
func dial(ctx context.Context, o options) (any, error) {
	begun := time.Now()
	conns, err := connectAll(ctx, o, o.n, nil)
	if err != nil {
		return nil, err
	}
	took := time.Since(begun).Seconds()
	ready("%d connections in %.2f s", len(conns), took)
	sleep(ctx, o.hold())
	h := held{Role: "dial", Conns: len(conns), ConnectS: took, PerSecond: float64(len(conns)) / took}
	for _, c := range conns {
		select {
		case <-c.Done():
			h.Lost++
		default:
		}
	}
	for _, c := range conns {
		c.Abort()
	}
	time.Sleep(200 * time.Millisecond) // the farewells leave
	return h, nil
}

// listen accepts whoever calls, reads, and counts, until it is told to end.
func listen(ctx context.Context, o options) (any, error) {
	cfg := o.config()
	ln, err := srtcore.Listen(ctx, o.addr(), &cfg)
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	ready("")
	l := &listened{Role: "listen"}
	for {
		c, err := ln.Accept(ctx)
		if err != nil {
			return l.counted(), nil
		}
		l.watch(c)
	}
}

// listened counts who came and went.
type listened struct {
	Role     string `json:"role"`
	Accepted int    `json:"accepted"`
	Open     int    `json:"open"`
	Msgs     uint64 `json:"msgs"`
	Corrupt  uint64 `json:"corrupt"`

	r    *reader
	news chan *srtcore.Conn
	end  chan struct{}
}

func (l *listened) watch(c *srtcore.Conn) {
	if l.r == nil {
		l.r, l.news, l.end = newReader(false), make(chan *srtcore.Conn, 1024), make(chan struct{})
		l.r.bare = true
		go l.read()
	}
	l.Accepted++
	l.news <- c
}

// read owns the reader: a connection joins between two waits.
func (l *listened) read() {
	defer close(l.end)
	for {
		select {
		case c, ok := <-l.news:
			if !ok {
				return
			}
			l.r.add(c)
			continue
		default:
		}
		l.r.until(context.Background(), 20*time.Millisecond)
	}
}

func (l *listened) counted() *listened {
	if l.r == nil {
		return l
	}
	close(l.news)
	<-l.end
	rep := l.r.report("")
	l.Open, l.Msgs, l.Corrupt = l.Accepted-l.r.ended, rep.Msgs+l.r.gone.msgs, rep.Corrupt+l.r.gone.corrupt
	return l
}
