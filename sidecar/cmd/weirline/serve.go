package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/ingest"
)

func serveCommand() *cobra.Command {
	var listen, level, format string
	c := &cobra.Command{
		Use:   "serve",
		Short: "The daemon: SRT behind an HTTP address",
		Long: `The daemon. An HTTP request becomes an SRT connection:

  ffmpeg -re -i in.ts -c copy -f mpegts \
    'http://weirline@127.0.0.1:9710/srt://host:9000?latency=120&streamid=%23!::r=live/x,m=publish'
  ffmpeg -analyzeduration 0 -probesize 500000 -f mpegts \
    -i 'http://127.0.0.1:9710/srt://:9000?mode=listener' -c copy out.ts

POST and PUT send the body, GET receives. The address stands in the path as it
is; only # must be written %23. Or escape it whole: /srt?url=srt%3A%2F%2F...
Times are in milliseconds and take units (latency=120ms).

With a user name in the URL (weirline@) FFmpeg waits until SRT is connected, and a
refusal fails the open: 400 bad URL, 403 refused, 404 not found, 409 port in
use, 504 timeout, 502 anything else. Without, the body is read from the first
moment and SRT connects meanwhile. While SRT is down the oldest media is
dropped; the connection is made again by itself. While it is up, a body faster
than the link waits for it. The reply to a POST counts what was dropped.

reconnect=0 ends the request with its connection; listen_timeout=5s bounds the
wait for a caller. Only local clients are served, and no web pages.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd, listen, level, format)
		},
	}
	f := c.Flags()
	f.StringVar(&listen, "listen", "127.0.0.1:9710", "HTTP address")
	f.StringVar(&level, "log-level", "info", "debug, info, warn, error")
	f.StringVar(&format, "log-format", "text", "text, json")
	return c
}

func serve(cmd *cobra.Command, listen, level, format string) error {
	log, err := newLogger(level, format)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return exitError{exitUsage, fmt.Errorf("--listen %q is refused: allowed host:port", listen)}
	}
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return coded(err)
	}
	if a, ok := ln.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		log.Warn("listening beyond this machine: whoever reaches this address can send and receive through it", "addr", ln.Addr().String())
	}
	log.Info("serving", "http", ln.Addr().String(), "version", versionText())
	ctx, cancel := untilSignal(cmd.Context(), log)
	defer cancel()
	h := &ingest.Handler{Log: log, Hosts: []string{host}}
	return coded(h.Serve(ctx, ln))
}
