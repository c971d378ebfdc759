package main

import (
	"io"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/srtcore"
)

// What joins rooms that do not know each other.
var (
	newMonitor func() route.Monitor
	writeTrace func(c *srtcore.Conn, format string, w io.Writer) error
	readHealth func(any) (control.TSHealth, bool)
)
