package bench

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Options are the options of both sides. The zero Options are not valid; start
// from DefaultOptions.
type Options struct {
	Host    string
	Port    int
	Streams int
	Latency int     // ms
	Secs    float64 // length of the measured part
	Mbps    float64 // of each stream

	TLPktDrop  int // -1: the default
	StreamID   string
	Passphrase string
	PBKeyLen   int
	CryptoMode string // "" or "ctr"
	Filter     string // must be empty: there is no packet filter
	MaxBW      int64  // bytes/s; UnsetMaxBW: the default
	FC         int    // 0: the default, as for all below
	RcvBuf     int
	SndBuf     int
	UDPRcvBuf  int
	UDPSndBuf  int

	TickUs   int // sending tick
	Unpaced  bool
	Deep     bool
	LogLevel int  // accepted; there is nothing to log
	Shared   bool // accepted; callers share sockets as the library sees fit
	UWait    bool // accepted
	FileMode bool // refused: live mode only

	CPUProfile string // file; none when empty

	NoGSO, NoGRO, Portable bool // as in srtcore.RuntimeConfig
}

// UnsetMaxBW leaves the bandwidth limit at the library's default.
const UnsetMaxBW = -2

// DefaultOptions are the defaults of the project's other peers.
func DefaultOptions() Options {
	return Options{
		Host: "127.0.0.1", Port: 9000, Streams: 1, Latency: 120, Secs: 10, Mbps: 10,
		TLPktDrop: -1, MaxBW: UnsetMaxBW, TickUs: 1000, LogLevel: 2,
	}
}

// Validate says what this tool cannot do.
func (o *Options) Validate() error {
	switch {
	case o.FileMode:
		return fmt.Errorf("--file is not supported: live mode only")
	case o.Filter != "":
		return fmt.Errorf("--filter is not supported")
	case o.CryptoMode != "" && o.CryptoMode != "ctr":
		return fmt.Errorf("--cryptomode %q is not supported: allowed ctr", o.CryptoMode)
	case o.Streams < 1 || o.Streams > 1<<16:
		return fmt.Errorf("--streams %d is refused: allowed 1..65536", o.Streams)
	case o.TickUs < 1:
		return fmt.Errorf("--tick-us %d is refused: allowed 1 or more", o.TickUs)
	case o.Secs <= 0 || o.Mbps <= 0:
		return fmt.Errorf("--secs and --mbps must be above 0")
	}
	cfg := o.config()
	return cfg.Validate()
}

func (o *Options) addr() string { return net.JoinHostPort(o.Host, strconv.Itoa(o.Port)) }

func (o *Options) config() srtcore.Config {
	c := srtcore.DefaultConfig()
	c.RcvLatency = time.Duration(o.Latency) * time.Millisecond
	c.PeerLatency = c.RcvLatency
	c.PayloadSize = messageSize
	c.StreamID = o.StreamID
	c.Passphrase = o.Passphrase
	c.Backlog = o.Streams + 16
	if o.TLPktDrop >= 0 {
		c.TLPktDrop = o.TLPktDrop != 0
	}
	if o.MaxBW != UnsetMaxBW {
		c.MaxBW = o.MaxBW
	}
	for _, v := range []struct {
		to   *int
		from int
	}{
		{&c.PBKeyLen, o.PBKeyLen}, {&c.FC, o.FC}, {&c.RcvBuf, o.RcvBuf}, {&c.SndBuf, o.SndBuf},
		{&c.UDPRcvBuf, o.UDPRcvBuf}, {&c.UDPSndBuf, o.UDPSndBuf},
	} {
		if v.from != 0 {
			*v.to = v.from
		}
	}
	return c
}

// fail prints an error as the other peers do.
func fail(out io.Writer, role, what string, err error) {
	fmt.Fprintf(out, "{\"role\":%q,\"error\":%q}\n", role, what+": "+err.Error())
}
