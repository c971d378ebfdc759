package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

// Exit codes; exitCodesText tells users.
const (
	exitOK      = 0
	exitRuntime = 1
	exitUsage   = 2
	exitRefused = 3
	exitTimeout = 4
	exitGaveUp  = 5
)

const exitCodesText = `Exit codes of weirline:

  0  ok: the source came to its end and everything was delivered, or the
     program was stopped by SIGINT or SIGTERM
  1  error while running: a file, a socket, a connection that broke for good,
     a port that is in use
  2  usage: unknown command or option, bad URL or value; nothing was sent
  3  refused by the peer: wrong passphrase, stream id not allowed, settings
     that do not go together; it is not tried again
  4  timeout: no answer, host unknown or unreachable, nobody called in time
  5  gave up: an end was without a peer for --timeout

weirline bench uses 1 for corrupt data or a time-out and 2 for errors, as the
other benchmark peers do.`

// exitError carries an exit code; err may be nil when all was said.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return "failed"
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

// coded gives err the exit code it deserves.
func coded(err error) error {
	var have exitError
	if err == nil || errors.As(err, &have) {
		return err
	}
	return exitError{codeOf(err), err}
}

func codeOf(err error) int {
	if errors.Is(err, route.ErrGaveUp) {
		return exitGaveUp
	}
	switch endpoint.Judge(err).Kind {
	case endpoint.BadOption:
		return exitUsage
	case endpoint.Refused:
		return exitRefused
	case endpoint.Timeout, endpoint.NotFound:
		return exitTimeout
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return exitTimeout
	}
	return exitRuntime
}

// exitCodesTopic is "weirline help exit-codes".
func exitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean (help topic)", Long: exitCodesText}
}
