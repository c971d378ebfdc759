package main

import (
	"io"
	"time"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/mpegts"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/sidecar/trace"
	"github.com/weirline/weirline/srtcore"
)

// What joins rooms that do not know each other.

func newMonitor() route.Monitor { return mpegts.NewHealth(time.Now) }

func readHealth(health any) (control.TSHealth, bool) {
	h, ok := health.(mpegts.Report)
	return control.TSHealth{
		BytesPerSecond: h.Bitrate / 8, PCRJitterSeconds: h.PCRJitterMs / 1000,
		ContinuityErrors: h.ContinuityErrors, SyncLosses: h.SyncLosses, TransportErrors: h.TransportErrors,
	}, ok
}

func writeTrace(c *srtcore.Conn, format string, w io.Writer) error { return trace.Write(c, format, w) }
