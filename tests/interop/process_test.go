package interop

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// sender is the sending end of a connection.
type sender interface {
	io.Writer
	// finish says that there is no more; it returns when the end has closed.
	finish() error
	// stop ends it by force.
	stop()
}

// receiver is the receiving end.
type receiver interface {
	content() *collector
	stop()
}

// process is an end of a connection that is a program.
type process struct {
	*proctest.Process
	sink *collector
}

// start runs a program with a pipe to write to. What it prints goes to sink, if
// there is one.
func start(t *testing.T, sink *collector, argv ...string) *process {
	t.Helper()
	prog := proctest.Program{Args: argv, Pipe: true, Grace: time.Second}
	if sink != nil {
		prog.Out, prog.Ended = sink, sink.end
	}
	return &process{proctest.Start(t, prog), sink}
}

// Write writes to the program's standard input.
func (p *process) Write(b []byte) (int, error) { return p.In.Write(b) }

func (p *process) content() *collector { return p.sink }

// finish closes the input and waits for the program to end by itself.
func (p *process) finish() error {
	_ = p.In.Close()
	err := p.Wait(proctest.Patience)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.Stop()
	}
	return err
}

func (p *process) stop() { p.Stop() }
