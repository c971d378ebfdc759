package main

import (
	"errors"
	"os"

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
	o := bench.DefaultOptions()
	c := &cobra.Command{
		Use: name, Short: short, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Validate(); err != nil {
				return exitError{exitUsage, err}
			}
			stop, err := bench.StartProfile(o.CPUProfile)
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
	o.AddFlags(c.Flags())
	return c
}
