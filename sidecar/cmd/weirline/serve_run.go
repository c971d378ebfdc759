package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/daemon"
	"github.com/weirline/weirline/sidecar/ingest"
	"github.com/weirline/weirline/sidecar/service"
)

// server is the parts of a running daemon.
type server struct {
	cfg     *config.Config
	logged  string // the level of the log, as the file last had it
	log     *slog.Logger
	sockets *service.Sockets
	daemon  *daemon.Daemon
	handler *ingest.Handler
	http    net.Listener // nil: off
	control net.Listener // nil: off
	surface *control.Server

	retire chan struct{} // closed when the next process takes over
	handed chan struct{} // closed when it has been told to begin
}

func serve(cmd *cobra.Command, o *serveFlags) error {
	cfg, err := o.load(cmd)
	if err != nil {
		return exitError{exitUsage, err}
	}
	log, level, err := newLevelLogger(cfg.Log.Level, cfg.Log.Format)
	if err != nil {
		return err
	}
	ctx, cancel := untilSignal(cmd.Context(), log)
	defer cancel()
	s := &server{cfg: cfg, logged: cfg.Log.Level, log: log, retire: make(chan struct{}), handed: make(chan struct{})}
	if s.sockets, err = service.Inherit(); err != nil {
		return coded(err)
	}
	if err := s.sockets.Await(ctx); err != nil {
		return coded(err)
	}
	s.daemon = daemon.New(daemon.Options{
		Config: cfg, Path: o.config, Log: log, Level: level, Version: versionText(), Monitor: newMonitor,
		Inherited: s.sockets.Take,
		Load: func(string) (*config.Config, error) {
			next, err := o.load(cmd)
			if err == nil {
				s.reloaded(next, level)
			}
			return next, err
		},
	})
	if err := s.open(ctx); err != nil {
		return coded(err)
	}
	return coded(s.run(ctx, o.config))
}

// open claims every address before anything is served.
func (s *server) open(ctx context.Context) (err error) {
	if s.http, err = s.listen("HTTP", s.cfg.Listen, true); err != nil {
		return err
	}
	if s.control, err = s.listen("control", s.cfg.Control.Listen, false); err != nil {
		return err
	}
	if s.control != nil {
		s.surface, err = control.NewServer(control.Options{
			Daemon: s.daemon, Log: s.log, Token: s.cfg.Control.Token.Reveal(), Origins: s.cfg.Control.Origins,
			Loopback: local(s.control), Trace: writeTrace, Health: readHealth,
		})
		if err != nil {
			return err
		}
	}
	if err := s.daemon.Start(ctx); err != nil {
		return err
	}
	for _, name := range s.sockets.Rest() {
		s.log.Warn("an inherited socket is not in the configuration and was closed", "socket", name)
	}
	return nil
}

func (s *server) listen(what, addr string, warn bool) (net.Listener, error) {
	if addr == "off" {
		return nil, nil
	}
	ln, err := s.sockets.Listen(addr)
	if err != nil {
		return nil, err
	}
	if warn && !local(ln) {
		s.log.Warn("listening beyond this machine: whoever reaches this address can send and receive through it", "addr", ln.Addr().String())
	}
	s.log.Info("serving", what, ln.Addr().String(), "version", versionText())
	return ln, nil
}

// local reports whether only this machine reaches the listener.
func local(ln net.Listener) bool {
	a, ok := ln.Addr().(*net.TCPAddr)
	return !ok || a.IP.IsLoopback()
}

// run serves until ctx ends or the next process has taken over.
func (s *server) run(ctx context.Context, file string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	surface, closeSurface := context.WithCancel(context.WithoutCancel(ctx))
	defer closeSurface()
	ended := make(chan error, 2)
	parts := 0
	if s.surface != nil {
		parts++
		go func() { ended <- s.surface.Serve(surface, s.control) }()
	}
	go s.signals(ctx, closeSurface)
	if file != "" {
		go config.Watch(ctx, file, s.reload)
	}
	go service.Watchdog(ctx, func() { s.daemon.Status() })
	service.Ready(fmt.Sprintf("%d routes, %d listeners", len(s.cfg.Routes), len(s.cfg.Listeners)))

	err := s.serveHTTP(ctx)
	select {
	case <-s.retire: // the service goes on in the next process, once that knows
		<-s.handed
	default:
		service.Stopping()
	}
	s.daemon.Stop()
	closeSurface()
	for range parts {
		err = errors.Join(err, <-ended)
	}
	return err
}

// serveHTTP answers requests until the daemon stops; with that off it waits.
func (s *server) serveHTTP(ctx context.Context) error {
	if s.http == nil {
		select {
		case <-ctx.Done():
		case <-s.retire:
		}
		return nil
	}
	var hosts []string
	if host, _, err := net.SplitHostPort(s.cfg.Listen); err == nil {
		hosts = []string{host}
	}
	s.handler = &ingest.Handler{Log: s.log, Hosts: hosts, Register: s.daemon.Register, Monitor: newMonitor, Retire: s.retire}
	return s.handler.Serve(ctx, s.http)
}

// signals acts on SIGHUP and SIGUSR2 until ctx ends.
func (s *server) signals(ctx context.Context, closeSurface func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, signalsOfServe...)
	defer signal.Stop(c)
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-c:
			if sig == syscall.SIGHUP {
				s.reload()
				continue
			}
			if err := s.upgrade(ctx, closeSurface); err != nil {
				s.log.Error("upgrade failed, this process goes on", "err", err)
				continue
			}
			return
		}
	}
}

func (s *server) reload() {
	service.Reloading()
	status := "configuration read"
	if s.daemon.Reload() != nil { // it has said why
		status = "configuration not taken over, the one before goes on"
	}
	service.Ready(status)
}

// reloaded takes over what is not the daemon's, which does not read twice at once.
func (s *server) reloaded(next *config.Config, level *slog.LevelVar) {
	if next.Log.Level != s.logged {
		_ = setLevel(level, next.Log.Level) // it was validated
		s.logged = next.Log.Level
	}
	if next.Listen != s.cfg.Listen || next.Control.Listen != s.cfg.Control.Listen || next.Log.Format != s.cfg.Log.Format ||
		next.Control.Token != s.cfg.Control.Token {
		s.log.Warn("changes of listen, control and log.format need a restart, or an upgrade (SIGUSR2)")
	}
}
