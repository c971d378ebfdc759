package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

type relayOptions struct {
	interval      time.Duration
	format, out   string
	timeout       string
	secretFile    string
	payloadSize   int
	level, logFmt string
}

// maxPayloadSize is what one packet of 1500 bytes carries over IPv4.
const maxPayloadSize = 1456

func relayCommand() *cobra.Command {
	var o relayOptions
	c := &cobra.Command{
		Use:   "relay SOURCE DESTINATION [DESTINATION...]",
		Short: "Carry one source to any number of destinations",
		Long: `Carry one source to any number of destinations:

  srt://host:port?options  SRT; without a host, or with mode=listener, it listens.
                           A listening destination serves any number of callers.
                           reconnect=0: its end is the relay's; listen_timeout=5s
  udp://host:port          UDP; a source binds. pkt_size=1316, iface=eth0 (multicast),
                           buffer_size=bytes
  unix:PATH, tcp://h:p     stream sockets. A source listens, a destination dials;
                           ?listen=0 and ?listen=1 turn it round
  file://PATH              a file, read as fast as the destinations take it
  -                        standard input or output

Lost connections are made again, waiting 0.25 s to 10 s; what comes meanwhile is
dropped, the oldest first; a file waits. Streams wait for a slow link, not for one
that stands still; at a listening destination the fastest caller sets the pace.
Wrong credentials are not tried again. The relay ends
with exit code 0 when a source with an end (file, -, dialled socket) has ended
and its tail was delivered, or on SIGINT or SIGTERM. See weirline help exit-codes.`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return relay(cmd, args, o) },
	}
	f := c.Flags()
	f.DurationVar(&o.interval, "stats-interval", 0, "write statistics so often, as in 1s; 0 never")
	f.StringVar(&o.format, "stats-format", "json", "json, csv, text")
	f.StringVar(&o.out, "stats-out", "", "file for the statistics (default stderr)")
	f.StringVar(&o.timeout, "timeout", "0", "give up, with exit code 5, when an end has had no peer for so long: seconds, or as in 500ms; 0 never")
	f.StringVar(&o.secretFile, "passphrase-file", "", "file whose first line is the passphrase of all srt:// addresses without one; keeps it out of the process list")
	f.IntVar(&o.payloadSize, "payload-size", 0, "cut byte streams (file, -, unix, tcp) into messages of so many bytes; 0: as the destinations' payloadsize, or 1316")
	f.StringVar(&o.level, "log-level", "info", "debug, info, warn, error")
	f.StringVar(&o.logFmt, "log-format", "text", "text, json")
	return c
}

func relay(cmd *cobra.Command, args []string, o relayOptions) error {
	log, err := newLogger(o.level, o.logFmt)
	if err != nil {
		return err
	}
	cfg, err := relayConfig(args, o, log)
	if err != nil {
		return coded(err)
	}
	if o.interval < 0 {
		return exitError{exitUsage, fmt.Errorf("--stats-interval %v is refused: allowed 0 or more", o.interval)}
	}
	r := route.New(cfg)
	stop, err := startStats(r, o)
	if err != nil {
		return coded(err)
	}
	defer stop()
	ctx, cancel := untilSignal(cmd.Context(), log)
	defer cancel()
	return coded(r.Run(ctx))
}

func relayConfig(args []string, o relayOptions, log *slog.Logger) (route.Config, error) {
	cfg := route.Config{Log: log}
	var err error
	if cfg.GiveUp, err = seconds(o.timeout); err != nil {
		return cfg, exitError{exitUsage, err}
	}
	if cfg.Source, err = endpoint.ParseSource(args[0]); err != nil {
		return cfg, fmt.Errorf("source: %w", err)
	}
	warn(log, cfg.Source)
	for i, a := range args[1:] {
		out, err := endpoint.ParseSink(a)
		if err != nil {
			return cfg, fmt.Errorf("destination %d: %w", i+1, err)
		}
		warn(log, out)
		cfg.Outputs = append(cfg.Outputs, out)
	}
	if err := setMessageSize(cfg, o.payloadSize); err != nil {
		return cfg, err
	}
	return cfg, setPassphrase(cfg, o.secretFile)
}

// setMessageSize says how a byte stream is cut.
func setMessageSize(cfg route.Config, size int) error {
	if size < 0 || size > maxPayloadSize {
		return exitError{exitUsage, fmt.Errorf("--payload-size %d is refused: allowed 1..%d, or 0", size, maxPayloadSize)}
	}
	endpoint.FitMessages(cfg.Source, cfg.Outputs...)
	if c, ok := cfg.Source.(interface{ SetMessageSize(int) }); ok && size > 0 {
		c.SetMessageSize(size)
	}
	return nil
}

// setPassphrase gives all SRT ends the passphrase in the file.
func setPassphrase(cfg route.Config, file string) error {
	if file == "" {
		return nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("--passphrase-file: %w", err)
	}
	line, _, _ := strings.Cut(string(b), "\n")
	ends := []endpoint.End{cfg.Source}
	for _, e := range cfg.Outputs {
		ends = append(ends, e)
	}
	for _, e := range ends {
		if s, ok := e.(*endpoint.SRT); ok {
			if err := s.SetPassphrase(strings.TrimSuffix(line, "\r")); err != nil {
				return err
			}
		}
	}
	return nil
}

func warn(log *slog.Logger, e endpoint.End) {
	w, ok := e.(interface{ Warnings() []string })
	if !ok {
		return
	}
	for _, text := range w.Warnings() {
		log.Warn("odd option", "url", e.URL(), "warning", text)
	}
}

// seconds takes 5 (seconds) and 500ms.
func seconds(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil {
		d, err = time.ParseDuration(v + "s")
	}
	if err != nil || d < 0 {
		return 0, fmt.Errorf("--timeout %q is refused: allowed seconds, or a unit as in 500ms", v)
	}
	return d, nil
}

// startStats writes statistics and, on a terminal, a progress line, until stop.
func startStats(r *route.Route, o relayOptions) (stop func(), err error) {
	out, closeOut := io.Writer(os.Stderr), func() {}
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return nil, err
		}
		out, closeOut = f, func() { f.Close() }
	}
	w, err := control.NewStatsWriter(o.format, out)
	if err != nil {
		closeOut()
		return nil, exitError{exitUsage, err}
	}
	var jobs []func()
	if o.interval > 0 {
		jobs = append(jobs, every(o.interval, func() { w.Write(r.Snapshot()) }))
	}
	if isTerminal(os.Stderr) && o.interval == 0 {
		jobs = append(jobs, every(time.Second, func() { fmt.Fprintf(os.Stderr, "\r\x1b[K%s", control.Line(r.Snapshot())) }))
	}
	return func() {
		for _, stop := range jobs {
			stop()
		}
		closeOut()
	}, nil
}

// every calls f at intervals, and once more at the end.
func every(d time.Duration, f func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(d)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				f()
			case <-quit:
				f()
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}
