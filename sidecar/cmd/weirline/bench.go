package main

import (
	"errors"
	"os"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/bench"
)

func benchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Load tool: many connections, checked messages, one JSON line",
		Long: `Load tool. Start the receiver, then the sender:

  weirline bench recv --port 9000 --streams 32 --latency 20 --secs 10
  weirline bench send --port 9000 --streams 32 --latency 20 --secs 10 --mbps 10

Each prints one line of JSON at its end. run_cpu_s is the CPU time of the
measured part, user and system; latencies are from the building of a message to
its delivery, in buckets of 0.1 ms.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return exitError{exitUsage, errors.New("bench needs recv, send or self; see weirline help bench")}
		},
	}
	c.AddCommand(
		benchSide("recv", "Receive and check", func(cmd *cobra.Command, o bench.Options) int {
			return bench.Recv(cmd.Context(), o, os.Stdout, os.Stderr)
		}),
		benchSide("send", "Send", func(cmd *cobra.Command, o bench.Options) int {
			return bench.Send(cmd.Context(), o, os.Stdout)
		}),
		benchSide("self", "Measure the tool's own building and checking", func(*cobra.Command, bench.Options) int {
			return bench.Self(os.Stdout)
		}),
		benchRun(),
	)
	return c
}

// benchRun is both sides at once, or the sender against a server of the user's.
func benchRun() *cobra.Command {
	o := bench.RunOptions{Profile: "P2", Secs: 10}
	c := &cobra.Command{
		Use: "run", Short: "Sender and receiver at once, with a table", Args: cobra.NoArgs,
		Long: `Run a sender and a receiver, each a process of its own, and print a table and
one line of JSON. With --target only the sender runs, against your own server.

` + bench.Profiles(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Check(); err != nil {
				return exitError{exitUsage, err}
			}
			if code := bench.Run(cmd.Context(), o, os.Stdout, os.Stderr); code != 0 {
				return exitError{code: code}
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.Profile, "profile", o.Profile, "the load, see above")
	c.Flags().Float64Var(&o.Secs, "secs", o.Secs, "length of the measured part, s")
	c.Flags().StringVar(&o.Target, "target", "", "SRT listener to send to: host:port, or srt://host:port?latency=ms&streamid=...&passphrase=...&pbkeylen=16")
	return c
}

func benchSide(name, short string, side func(*cobra.Command, bench.Options) int) *cobra.Command {
	o, profileTo := bench.DefaultOptions(), ""
	c := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return exitError{exitUsage, err}
			}
			stop, err := startProfile(profileTo)
			if err != nil {
				return coded(err)
			}
			code := side(cmd, o)
			if err := stop(); err != nil {
				return coded(err)
			}
			if code != 0 {
				return exitError{code: code}
			}
			return nil
		},
	}
	f := c.Flags()
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
	f.StringVar(&profileTo, "cpuprofile", "", "write a CPU profile to this file")
	_ = f.MarkHidden("cpuprofile")
	f.BoolVar(&o.FileMode, "file", false, "file mode (not supported)")
	return c
}

// startProfile profiles this process until stop; without a file, not at all.
func startProfile(file string) (stop func() error, err error) {
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
