package execwrap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"
)

// Exit codes of a program that did not run, as shells have them.
const (
	codeNotFound      = 127
	codeNotExecutable = 126
)

// again is how soon the same signal counts as a new one: some send it to the
// process and then to its whole group.
const again = 100 * time.Millisecond

// linger is how long a program that was told to stop may take to do so by
// itself; one that waits for media does not see the signal.
const linger = 300 * time.Millisecond

// Signals are those that come for the program, or for what is left after it.
type Signals struct{ got chan os.Signal }

// Catch takes signals from now on until Release.
func Catch() *Signals {
	s := &Signals{make(chan os.Signal, 16)}
	signal.Notify(s.got, wanted()...)
	return s
}

// Release leaves signals to the system again.
func (s *Signals) Release() { signal.Stop(s.got) }

// Hurry is for when the program has ended: the context ends with the next
// signal that asks to stop.
func (s *Signals) Hurry() (context.Context, context.CancelFunc) {
	for len(s.got) > 0 {
		<-s.got // was the program's
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for {
			select {
			case sig := <-s.got:
				if stops(sig) {
					cancel()
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// Run runs argv with this process's terminal, files and environment, hands
// signals on and returns its exit code: its own, or 128 and the signal that
// killed it. stopping is called when it was told to stop and has not done so at
// once. err: it did not run.
func (s *Signals) Run(argv []string, stopping func()) (code int, err error) {
	path, err := exec.LookPath(argv[0])
	switch {
	case errors.Is(err, fs.ErrPermission):
		return codeNotExecutable, err
	case err != nil:
		return codeNotFound, err
	}
	cmd := &exec.Cmd{
		Path: path, Args: argv, Env: withoutProxy(os.Environ()),
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
	}
	alone := ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return codeNotExecutable, err
	}
	done := make(chan struct{})
	go func() { _ = cmd.Wait(); close(done) }()
	s.relay(cmd.Process, done, alone, stopping)
	return exitCode(cmd.ProcessState), nil
}

// relay hands on what comes until the program has ended.
func (s *Signals) relay(p *os.Process, done <-chan struct{}, alone bool, stopping func()) {
	var late <-chan time.Time
	before := map[os.Signal]time.Time{}
	for {
		select {
		case <-done:
			return
		case <-late:
			late = nil
			stopping()
		case sig := <-s.got:
			if late == nil && stops(sig) {
				late = time.After(linger)
			}
			if now := time.Now(); now.Sub(before[sig]) > again && (alone || !fromTerminal(sig)) {
				before[sig] = now
				_ = p.Signal(sig) // it may just have ended
			}
		}
	}
}

// withoutProxy exempts the private address from a proxy that the environment
// names for HTTP.
func withoutProxy(env []string) []string {
	const key = "no_proxy="
	proxied, at := false, -1
	for i, v := range env {
		proxied = proxied || strings.HasPrefix(v, "http_proxy=") || strings.HasPrefix(v, "all_proxy=")
		if strings.HasPrefix(v, key) {
			at = i
		}
	}
	switch {
	case !proxied:
	case at < 0:
		env = append(env, key+"127.0.0.1")
	default:
		env[at] += ",127.0.0.1"
	}
	return env
}
