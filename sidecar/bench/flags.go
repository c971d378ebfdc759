package bench

import (
	"errors"
	"os"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// AddFlags adds the options of a side to a command.
func (o *Options) AddFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Host, "host", o.Host, "address to call or listen on")
	f.IntVar(&o.Port, "port", o.Port, "UDP port")
	f.IntVar(&o.Streams, "streams", o.Streams, "number of connections")
	f.IntVar(&o.Latency, "latency", o.Latency, "latency, ms")
	f.Float64Var(&o.Secs, "secs", o.Secs, "length of the measured part, s")
	f.Float64Var(&o.Mbps, "mbps", o.Mbps, "rate of each stream, Mbit/s")
	f.IntVar(&o.TLPktDrop, "tlpktdrop", o.TLPktDrop, "too-late packet drop: 0, 1, -1 default")
	f.StringVar(&o.Passphrase, "passphrase", "", "passphrase")
	f.IntVar(&o.PBKeyLen, "pbkeylen", 0, "key length, bytes")
	f.StringVar(&o.CryptoMode, "cryptomode", "", "cipher mode: ctr")
	f.StringVar(&o.Filter, "filter", "", "packet filter (not supported)")
	f.Int64Var(&o.MaxBW, "maxbw", o.MaxBW, "bandwidth limit, bytes/s; -2 default")
	f.IntVar(&o.FC, "fc", 0, "flow window, packets")
	f.IntVar(&o.RcvBuf, "rcvbuf", 0, "receiver buffer, bytes")
	f.IntVar(&o.SndBuf, "sndbuf", 0, "sender buffer, bytes")
	f.IntVar(&o.UDPRcvBuf, "udprcvbuf", 0, "UDP receive buffer, bytes")
	f.IntVar(&o.UDPSndBuf, "udpsndbuf", 0, "UDP send buffer, bytes")
	f.IntVar(&o.TickUs, "tick-us", o.TickUs, "sending tick, us")
	f.BoolVar(&o.Unpaced, "unpaced", false, "send as fast as possible")
	f.BoolVar(&o.Deep, "deep", false, "compare bodies byte by byte")
	f.IntVar(&o.LogLevel, "loglevel", o.LogLevel, "accepted for compatibility")
	f.BoolVar(&o.Shared, "shared-muxer", false, "accepted for compatibility")
	f.BoolVar(&o.UWait, "uwait", false, "accepted for compatibility")
	f.BoolVar(&o.NoGSO, "no-gso", false, "send every packet as a datagram of its own")
	f.BoolVar(&o.NoGRO, "no-gro", false, "receive every packet as a datagram of its own")
	f.BoolVar(&o.Portable, "portable", false, "use the standard library's sockets and timers")
	f.StringVar(&o.StreamID, "streamid", "", "stream id of every connection")
	f.BoolVar(&o.FileMode, "file", false, "file mode (not supported)")
	f.StringVar(&o.CPUProfile, "cpuprofile", "", "write a CPU profile to this file")
	_ = f.MarkHidden("cpuprofile")
}

// StartProfile profiles this process until stop; without a file, not at all.
func StartProfile(file string) (stop func() error, err error) {
	if file == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return f.Close()
	}, nil
}
