package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/config"
)

// serveFlags override the file and the environment where they are given.
type serveFlags struct {
	config, listen, control, level, format string
	upgrade                                bool
}

func serveCommand() *cobra.Command {
	var o serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "The daemon: SRT behind an HTTP address, and the routes of a configuration",
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
wait for a caller. Only local clients are served, and no web pages.

With --config it also runs the routes and listeners of a file (docs/config.md),
and the API, the metrics and the page at control.listen; --control alone gives
these without a file. SIGHUP and a change of the file take the new
configuration over; what did not change in it is not touched. Settings are
overridden by WEIRLINE_... in the environment, and these by flags.

SIGUSR2, or --upgrade run beside it, starts the program's file anew and hands it
the listening sockets: callers and encoders that come meanwhile wait. Requests
that run are served to their end by the old process.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.upgrade {
				return upgradeRunning(cmd, &o)
			}
			return serve(cmd, &o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.config, "config", "", "configuration file (YAML)")
	f.StringVar(&o.listen, "listen", "127.0.0.1:9710", "HTTP address: host:port, unix:PATH or off")
	f.StringVar(&o.control, "control", "", "address of API, metrics and page: host:port, unix:PATH or off (default off; with --config 127.0.0.1:9711)")
	f.StringVar(&o.level, "log-level", "info", "debug, info, warn, error")
	f.StringVar(&o.format, "log-format", "text", "text, json")
	f.BoolVar(&o.upgrade, "upgrade", false, "have the running daemon of this configuration change to the program's file as it is now")
	return c
}

// load reads the configuration and puts the flags over it.
func (o *serveFlags) load(cmd *cobra.Command) (*config.Config, error) {
	c, err := config.Load(o.config, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	given := cmd.Flags().Changed
	if _, set := os.LookupEnv("WEIRLINE_CONTROL_LISTEN"); o.config == "" && !set {
		c.Control.Listen = "off"
	}
	for name, to := range map[string]*string{
		"listen": &c.Listen, "control": &c.Control.Listen, "log-level": &c.Log.Level, "log-format": &c.Log.Format,
	} {
		if given(name) {
			*to = cmd.Flag(name).Value.String()
		}
	}
	return c, c.Validate()
}
