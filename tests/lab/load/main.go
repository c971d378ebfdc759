// Command load is the load side of the lab's scenarios: many players, many idle
// connections, storms of connections, an attacker, the receiver of transport
// streams, and the bad network as a process. Each prints one line of JSON at its
// end and says "ready" on stderr when its steady part begins.
//
// Lives here: one file for each kind of load.
// May import: srtcore, srtcore/wire, impair, x/sys. Never: profile, report,
// sidecar.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// options are those of all kinds; each takes what it needs.
type options struct {
	host     string
	port     int
	from     int
	n        int
	secs     float64
	latency  int
	late     float64
	stall    int
	workers  int
	rate     int
	window   int
	seed     uint64
	target   string
	delay    time.Duration
	jitter   time.Duration
	loss     float64
	reorder  bool
	streamID string
}

func (o *options) addr() string { return net.JoinHostPort(o.host, strconv.Itoa(o.port)) }

func (o *options) config() srtcore.Config {
	c := srtcore.DefaultConfig()
	c.RcvLatency = time.Duration(o.latency) * time.Millisecond
	c.PeerLatency = c.RcvLatency
	c.Backlog = o.n + 16
	c.StreamID = o.streamID
	c.ConnTimeout = 10 * time.Second
	return c
}

func (o *options) hold() time.Duration { return time.Duration(o.secs * float64(time.Second)) }

var kinds = map[string]func(context.Context, options) (any, error){
	"players": players,
	"listen":  listen,
	"dial":    dial,
	"churn":   churn,
	"flood":   flood,
	"tsrecv":  tsrecv,
	"impair":  impairment,
}

func main() {
	if len(os.Args) < 2 || kinds[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: load players|listen|dial|churn|flood|tsrecv|impair [options]")
		os.Exit(64)
	}
	// As the other peers: little is allocated, so the heap is kept small.
	debug.SetGCPercent(50)
	o := parse(os.Args[1], os.Args[2:])
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	result, err := kinds[os.Args[1]](ctx, o)
	if err != nil {
		text, _ := json.Marshal(map[string]string{"role": os.Args[1], "error": err.Error()})
		fmt.Println(string(text))
		os.Exit(2)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		os.Exit(2)
	}
}

func parse(kind string, args []string) options {
	var o options
	f := flag.NewFlagSet(kind, flag.ExitOnError)
	f.StringVar(&o.host, "host", "127.0.0.1", "address")
	f.IntVar(&o.port, "port", 9000, "port")
	f.IntVar(&o.from, "from", 29001, "port the players call from")
	f.IntVar(&o.n, "n", 1, "connections")
	f.Float64Var(&o.secs, "secs", 5, "length of the steady part")
	f.IntVar(&o.latency, "latency", 120, "latency, ms")
	f.Float64Var(&o.late, "late", 0, "count messages later than so many ms; 0: none")
	f.IntVar(&o.stall, "stall", 0, "players that connect and never read")
	f.IntVar(&o.workers, "workers", 64, "handshakes at the same time")
	f.IntVar(&o.rate, "rate", 5000, "NAKs a second")
	f.IntVar(&o.window, "window", 8192, "flow window the attacker offers, packets")
	f.Uint64Var(&o.seed, "seed", 1, "seed of all dice")
	f.StringVar(&o.target, "target", "", "where the bad network leads")
	f.DurationVar(&o.delay, "delay", 0, "delay in each direction")
	f.DurationVar(&o.jitter, "jitter", 0, "up to so much more")
	f.Float64Var(&o.loss, "loss", 0, "chance of a loss, each direction")
	f.BoolVar(&o.reorder, "reorder", false, "jitter overtakes")
	f.StringVar(&o.streamID, "streamid", "", "stream id")
	_ = f.Parse(args)
	return o
}

// ready tells the lab that the steady part begins.
func ready(format string, args ...any) {
	fmt.Fprintln(os.Stderr, strings.TrimSpace("ready "+fmt.Sprintf(format, args...)))
}

// sleep waits, or returns false when the lab wants the end.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
