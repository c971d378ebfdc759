package main

import (
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/trace"
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
		Use: "explain FILE", Short: "Explain a trace that was saved as JSON", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := os.Open(args[0])
			if err != nil {
				return coded(err)
			}
			defer f.Close()
			t, err := trace.Read(f)
			if err != nil {
				return exitError{exitUsage, fmt.Errorf("%s: %w", args[0], err)}
			}
			return coded(toFile(cmd, out, func(w io.Writer) error { return trace.Explain(t).WriteText(w) }))
		},
	})
	return c
}

// toFile writes to the file, or to stdout if there is none. A file that could
// not be written whole is removed.
func toFile(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "" {
		return write(cmd.OutOrStdout())
	}
	f, err := os.Create(path)
	if err != nil {
		return err
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
