package endpoint

import (
	"context"
	"io"
	"os"
	"time"
)

// pipeWait and pipePatience: a pipe may come from an encoder, which must not
// be stalled for long, or from a file, of which nothing should be lost. So it
// waits for outputs that move, but not for those that stand still.
const (
	pipeWait     = 5 * time.Second
	pipePatience = 500 * time.Millisecond
)

type stdioEnd struct {
	cutter
	name string
	f    *os.File
}

// Stdin is the end that reads standard input.
func Stdin() SourceEnd { return &stdioEnd{name: "- (standard input)", f: os.Stdin} }

// Stdout is the end that writes standard output.
func Stdout() SinkEnd { return &stdioEnd{name: "- (standard output)", f: os.Stdout} }

func (e *stdioEnd) URL() string    { return e.name }
func (e *stdioEnd) Traits() Traits { return Traits{StartWait: pipeWait, Patience: pipePatience} }
func (e *stdioEnd) Close() error   { return nil }

func (e *stdioEnd) OpenSource(context.Context) (Source, error) {
	return e.cut(e.f), nil
}

func (e *stdioEnd) OpenSink(context.Context) (Sink, error) {
	return newWriterSink(keepOpen{e.f}), nil
}

// keepOpen leaves standard output to the process.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
