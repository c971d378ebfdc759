package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/control/client"
)

// readyTime bounds how long the next process may take to read its configuration.
const readyTime = 20 * time.Second

// upgrade starts the program anew and hands the listening sockets over. Until
// the new process is ready nothing changes.
func (s *server) upgrade(ctx context.Context, closeSurface func()) error {
	program, err := exec.LookPath(os.Args[0])
	if err != nil {
		return err
	}
	udp, err := s.daemon.Files()
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range udp {
			f.Close()
		}
	}()
	s.log.Info("upgrade: starting the new process", "program", program)
	wait, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	heir, err := s.sockets.Upgrade(wait, program, os.Args[1:], udp)
	if err != nil {
		return err
	}
	// From here on the other one serves: first this one lets go of everything.
	defer close(s.handed)
	close(s.retire)
	s.daemon.Retire()
	closeSurface()
	s.daemon.Stop()
	if err := heir.Begin(); err != nil {
		s.log.Error("upgrade: the new process is gone", "err", err)
		return nil
	}
	s.log.Info("upgrade: the new process serves; this one ends with its last request", "pid", heir.PID())
	return nil
}

// upgradeRunning asks the daemon of this configuration to upgrade, and waits
// until another process answers.
func upgradeRunning(cmd *cobra.Command, o *serveFlags) error {
	cfg, err := o.load(cmd)
	if err != nil {
		return exitError{exitUsage, err}
	}
	if cfg.Control.Listen == "off" {
		return exitError{exitUsage, errors.New("--upgrade finds the running daemon by its control address: give --config or --control, or send it SIGUSR2")}
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), 2*readyTime)
	defer cancel()
	before, err := status(ctx, cfg)
	if err != nil {
		return coded(fmt.Errorf("no daemon answers at %s: %w", cfg.Control.Listen, err))
	}
	if err := askToUpgrade(before.PID); err != nil {
		return coded(fmt.Errorf("process %d: %w", before.PID, err))
	}
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return coded(fmt.Errorf("process %d did not hand over within %v: its log says why", before.PID, 2*readyTime))
		case <-tick.C:
		}
		if now, err := status(ctx, cfg); err == nil && now.PID != before.PID {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "process %d (%s) has taken over from %d (%s)\n", now.PID, now.Version, before.PID, before.Version)
			return coded(err)
		}
	}
}

func status(ctx context.Context, cfg *config.Config) (s control.Status, err error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	c, err := client.New(cfg.Control.Listen, cfg.Control.Token.Reveal())
	if err != nil {
		return s, err
	}
	defer c.Close()
	return s, c.Do(ctx, "GET", "/v1/status", nil, &s)
}
