package main

import (
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
)

// traceCommand shows why packets were lost.
func traceCommand() *cobra.Command {
	var api apiFlags
	var format, out string
	c := &cobra.Command{
		Use:   "trace CONNECTION",
		Short: "Why packets were lost: the flight recorder of a daemon's connection",
		Long: `Fetches the flight recorder of a connection (its id is in weirline top, the page, or
weirline ctl connections) and writes what happened to each gap:

  weirline trace c42                                  for people
  weirline trace c42 --format pcapng -o c42.pcapng    for packet analysers; no payload is in it
  weirline trace c42 --format json -o c42.json        to be explained later
  weirline trace explain c42.json
  weirline trace explain receiver.json sender.json    with the trace of the other end

The recorder keeps about the last 30 seconds: packet headers, reports, and what
was decided about them. tracerecords in an srt:// URL bounds it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := trace.ParseFormat(format); err != nil {
				return exitError{exitUsage, fmt.Errorf("--format: %w", err)}
			}
			client, err := api.client()
			if err != nil {
				return err
			}
			defer client.Close()
			path := "/v1/connections/" + url.PathEscape(args[0]) + "/trace?format=" + format
			return coded(toFile(cmd, out, func(w io.Writer) error { return client.Do(cmd.Context(), "GET", path, nil, w) }))
		},
	}
	api.add(c)
	c.PersistentFlags().StringVarP(&out, "output", "o", "", "file to write (default stdout)")
	c.Flags().StringVar(&format, "format", "text", "text, json, pcapng")
	c.AddCommand(&cobra.Command{
		Use: "explain FILE [FILE-OF-THE-OTHER-END]", Short: "Explain a trace that was saved as JSON", Args: cobra.RangeArgs(1, 2),
		Long: `Explains what weirline trace --format json has saved. With a second file, the trace
that the other end has kept of the same connection, it also tells whether requests
or retransmissions were lost, or the sender did not send them.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := explainFiles(args)
			if err != nil {
				return err
			}
			return coded(toFile(cmd, out, r.WriteText))
		},
	})
	return c
}

// explainFiles explains the first of one or two saved traces.
func explainFiles(names []string) (trace.Report, error) {
	var ts []srtcore.Trace
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return trace.Report{}, exitError{exitRuntime, err}
		}
		t, err := trace.Read(f)
		f.Close()
		if err != nil {
			return trace.Report{}, exitError{exitUsage, fmt.Errorf("%s: %w", name, err)}
		}
		ts = append(ts, t)
	}
	if len(ts) == 1 {
		return trace.Explain(ts[0]), nil
	}
	r, err := trace.ExplainBoth(ts[0], ts[1])
	if err != nil {
		return r, exitError{exitUsage, fmt.Errorf("%s and %s: %w", names[0], names[1], err)}
	}
	return r, nil
}

// toFile writes to the file, or to stdout if there is none. A file that could
// not be written whole is removed.
func toFile(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(cmd.OutOrStdout())
	}
	f, err := os.Create(path)
	if err != nil {
		return exitError{exitRuntime, err}
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}
