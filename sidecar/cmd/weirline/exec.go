package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/execwrap"
)

type execOptions struct {
	print, reconnect bool
	insists          bool // reconnect was said
	interval         time.Duration
	format, out      string
	timeout          string
	drain            time.Duration
	secretFile       string
	level, logFmt    string
	quiet            bool
}

func execCommand() *cobra.Command {
	var o execOptions
	c := &cobra.Command{
		Use:   "exec [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run ffmpeg, ffprobe, ffplay or mpv with weirline for their srt:// addresses",
		Long: `Run a program and carry its SRT addresses:

  weirline exec -- ffmpeg -re -i in.ts -c copy -f mpegts -latency 200000 srt://host:9000
  weirline exec -- ffplay 'srt://:9000?mode=listener'

The command line stays as it is: FFmpeg's own option names and units (latency in
microseconds, or with a unit as in 200ms), options in front of an address, tee
outputs, listeners. The program gets a local HTTP address in place of each SRT
address, and gains:

  a lost peer is called, or waited for, again; the program never notices. Media
  is dropped meanwhile, it is not held up
  a listening output serves any number of callers
  the end of a stream is delivered, which FFmpeg alone cuts off
  statistics; keys that FFmpeg does not have (see weirline's documentation)
  no need of an FFmpeg that was built with SRT

At the start all is as without it: a refusal or an absent peer fails the program,
a listening output waits for its first caller. An input does not end when its
peer leaves, since it may return: --reconnect=false or --timeout change that, and
ffprobe waits only with --reconnect.
Programs that are not known have every argument replaced that is an SRT address.
What cannot be replaced (filters, playlists, scripts) is left as it is and said.

The exit code is the program's, or 128 and the signal that killed it, or 126 and
127 as of a shell. If --timeout ended a stream it is 5. If the program ended well,
but its media could not be delivered, or its input failed, it is 1, 3 or 4 as in
weirline help exit-codes. Signals are handed on; Ctrl-C goes to both at once.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.insists = cmd.Flags().Changed("reconnect")
			return execute(cmd, args, o)
		},
	}
	f := c.Flags()
	f.SetInterspersed(false)
	f.BoolVar(&o.print, "print", false, "show the command line as it would be run, and end")
	f.BoolVar(&o.reconnect, "reconnect", true, "call lost peers again; false: the end of a connection is the end of its stream, as without weirline")
	f.StringVar(&o.timeout, "timeout", "0", "give up, with exit code 5, when an address has had no peer for so long: seconds, or as in 500ms; 0 never")
	f.DurationVar(&o.drain, "drain", 30*time.Second, "how long the rest may take to be delivered after the program's end")
	f.DurationVar(&o.interval, "stats", 0, "write statistics so often, as in 1s; 0 never")
	f.StringVar(&o.format, "stats-format", "text", "json, csv, text")
	f.StringVar(&o.out, "stats-out", "", "file for the statistics (default stderr)")
	f.StringVar(&o.secretFile, "passphrase-file", "", "file whose first line is the passphrase of all srt:// addresses without one; keeps it out of the process list")
	f.BoolVar(&o.quiet, "quiet", false, "no remarks on how the command line was understood")
	f.StringVar(&o.level, "log-level", "warn", "debug, info, warn, error")
	f.StringVar(&o.logFmt, "log-format", "text", "text, json")
	return c
}

func execute(cmd *cobra.Command, argv []string, o execOptions) error {
	opts, err := o.sidecar()
	if err != nil {
		return coded(err)
	}
	if o.print {
		return printPlan(cmd, argv, opts)
	}
	s, err := execwrap.New()
	if err != nil {
		return coded(err)
	}
	code, err := o.run(s, argv, opts)
	if err != nil || code != exitOK {
		return exitError{code, err}
	}
	return nil
}

// sidecar checks the flags.
func (o execOptions) sidecar() (execwrap.Options, error) {
	var opts execwrap.Options
	var err error
	if opts.Log, err = newLogger(o.level, o.logFmt); err != nil {
		return opts, err
	}
	if opts.GiveUp, err = seconds(o.timeout); err != nil {
		return opts, exitError{exitUsage, err}
	}
	if o.interval < 0 || o.drain < 0 {
		return opts, exitError{exitUsage, fmt.Errorf("--stats %v or --drain %v is refused: allowed 0 or more", o.interval, o.drain)}
	}
	if o.secretFile != "" {
		b, err := os.ReadFile(o.secretFile)
		if err != nil {
			return opts, fmt.Errorf("--passphrase-file: %w", err)
		}
		line, _, _ := strings.Cut(string(b), "\n")
		opts.Passphrase = strings.TrimSuffix(line, "\r")
	}
	return opts, nil
}

// run returns the exit code and, if weirline has something to say, an error.
func (o execOptions) run(s *execwrap.Sidecar, argv []string, opts execwrap.Options) (int, error) {
	plan, err := execwrap.Rewrite(argv, s.URL)
	if err == nil {
		plan.LookInside(beginning)
		o.remark(plan.Notes)
		opts.Reconnect = o.reconnect && (o.insists || !plan.Once)
		opts.Inputs = plan.Inputs
		err = s.Serve(plan.Addresses, opts)
	}
	if err != nil {
		s.Close(context.Background(), 0)
		return exitUsage, err
	}
	stop, err := o.startStats(s)
	if err != nil {
		s.Close(context.Background(), 0)
		return codeIn(coded(err)), err
	}
	signals := execwrap.Catch()
	defer signals.Release()
	code, err := signals.Run(plan.Args, s.EndStreams)
	hurry, cancel := signals.Hurry()
	defer cancel()
	rest := s.Close(hurry, o.drain)
	stop()
	switch {
	case err != nil:
		return code, err
	case rest != nil && (code == exitOK || codeOf(rest) == exitGaveUp):
		return codeOf(rest), rest
	}
	return code, nil
}

// codeIn is the exit code that a coded error carries.
func codeIn(err error) int {
	var c exitError
	errors.As(err, &c)
	return c.code
}

func (o execOptions) remark(notes []string) {
	if o.quiet {
		return
	}
	for _, n := range notes {
		fmt.Fprintln(os.Stderr, "weirline:", hideSecrets(n))
	}
}

// printPlan shows the command line without running anything.
func printPlan(cmd *cobra.Command, argv []string, opts execwrap.Options) error {
	plan, err := execwrap.Rewrite(argv, func(i int) string { return fmt.Sprintf("http://weirline@127.0.0.1:PORT/SECRET/%d", i) })
	if err == nil {
		err = execwrap.Check(plan.Addresses, opts)
	}
	if err != nil {
		return exitError{exitUsage, err}
	}
	plan.LookInside(beginning)
	quoted := make([]string, len(plan.Args))
	for i, a := range plan.Args {
		if i > 0 && plan.Args[i-1] == "-passphrase" {
			a = "(hidden)"
		}
		quoted[i] = shellQuote(hideSecrets(a))
	}
	execOptions{}.remark(plan.Notes)
	for i, a := range plan.Addresses {
		fmt.Fprintf(os.Stderr, "weirline: %d stands for %s\n", i, hideSecrets(a))
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), strings.Join(quoted, " "))
	return coded(err)
}

// beginning is the text at the beginning of a file that stays while it is read:
// no pipe, no device.
func beginning(name string) []byte {
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	return text
}

var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

func shellQuote(a string) string {
	if plain.MatchString(a) {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}

// startStats writes statistics of all streams until stop.
func (o execOptions) startStats(s *execwrap.Sidecar) (stop func(), err error) {
	if o.interval == 0 {
		return func() {}, nil
	}
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
	end := every(o.interval, func() {
		for _, r := range s.Routes() {
			w.Write(r)
		}
	})
	return func() { end(); closeOut() }, nil
}
