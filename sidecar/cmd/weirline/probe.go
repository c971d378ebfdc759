package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/probe"
)

// probeCommand measures a link before it is used.
func probeCommand() *cobra.Command {
	o := probe.DefaultOptions("")
	var rate, level, format string
	var listen, asJSON bool
	c := &cobra.Command{
		Use:   "probe URL",
		Short: "Measure an SRT link: round trip, jitter, loss, clocks; what latency and bandwidth it needs",
		Long: `Connects to an SRT address, measures for some seconds and advises.

  weirline probe "srt://203.0.113.7:9000?streamid=#!::r=live/a,m=request"
        measures with what the peer sends
  weirline probe --send --rate 8M srt://203.0.113.7:9000
        sends a test stream of MPEG-TS null packets, which receivers throw away
  weirline probe --listen srt://:9000
        the far end of such probes, until it is interrupted; what it receives is
        measured too, and printed when a caller leaves

The latency advised is (n + 1) round trips, of which 95 % are shorter, and a margin
for jitter: n is how many times a packet must be sent again until no more than one
in a million is missing. It is never below 120 ms. The probe itself uses a latency
of 1 s unless the URL has another. The test stream has messages of several sizes;
where large ones vanish and small ones do not, the MTU is too small. Ctrl-C ends a
probe early, and what is measured by then is shown.

More than 1 % given up as too late in spite of the 1 s means that the link does not
carry the stream: then a lower rate is advised, and no latency. Exit codes: weirline
help exit-codes.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bits, err := parseBits(rate)
			if err != nil {
				return exitError{exitUsage, err}
			}
			o.URL, o.Rate = args[0], bits
			if err := o.Check(); err != nil {
				return exitError{exitUsage, err}
			}
			if listen && o.Send {
				return exitError{exitUsage, fmt.Errorf("--listen and --send do not go together: the callers of --listen send")}
			}
			log, err := newLogger(level, format)
			if err != nil {
				return err
			}
			ctx, cancel := untilSignal(cmd.Context(), log)
			defer cancel()
			if listen {
				return coded(listenForProbes(ctx, o, asJSON, cmd))
			}
			r, err := probe.Run(ctx, o)
			if err != nil {
				return coded(err)
			}
			return coded(printProbe(cmd.OutOrStdout(), r, asJSON))
		},
	}
	f := c.Flags()
	f.BoolVar(&o.Send, "send", false, "send a test stream instead of measuring what comes")
	f.BoolVar(&listen, "listen", false, "be the far end of probes")
	f.StringVar(&rate, "rate", "5M", "bit rate of the test stream, bits/s; k, M, G")
	f.Float64Var(&o.Secs, "secs", o.Secs, "how long to measure, s: 2..30")
	f.IntVar(&o.MaxSize, "max-size", o.MaxSize, "largest message of the test stream, bytes: 188..1456; 1456 fills an Ethernet frame")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	f.StringVar(&level, "log-level", "info", "debug, info, warn, error")
	f.StringVar(&format, "log-format", "text", "text, json")
	return c
}

func listenForProbes(ctx context.Context, o probe.Options, asJSON bool, cmd *cobra.Command) error {
	return probe.Listen(ctx, o, func(r *probe.Report, err error) {
		if err == nil {
			err = printProbe(cmd.OutOrStdout(), r, asJSON)
		}
		if err != nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "weirline: probe:", hideSecrets(err.Error()))
		}
	})
}

func printProbe(w io.Writer, r *probe.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(r)
	}
	return r.WriteText(w)
}

// parseBits reads a bit rate: 5000000, 500k, 5M, 1.5M.
func parseBits(text string) (int64, error) {
	factors := map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
	number, factor := text, 1.
	for suffix, f := range factors {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			number, factor = n, f
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0 && v*factor < math.MaxInt32*1e3) {
		return 0, fmt.Errorf("--rate %q is refused: allowed bits per second, as in 800k, 5M or 1.5M", text)
	}
	return int64(v * factor), nil
}
