package endpoint

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
)

// fileEnd is a file: read once from its beginning, or with loop=1 again and again,
// as fast as the outputs take it; or created anew and written. An output that had
// to stop, because the disk is full, goes on behind what it has written; so does
// append=1 from the start.
type fileEnd struct {
	cutter
	path   string
	source bool
	append bool
	loop   bool
	begun  atomic.Bool // it was opened to be written to
}

func parseFile(raw string, source bool) (*fileEnd, error) {
	rest, query := splitQuery(raw)
	path, err := url.PathUnescape(strings.TrimPrefix(rest[len("file:"):], "//"))
	if err != nil {
		return nil, &URLError{Problem: "file name: a lone % must be written %25"}
	}
	if path == "" {
		return nil, &URLError{Problem: "file:// needs a path, as in file:///var/media/a.ts"}
	}
	e := &fileEnd{path: path, source: source}
	opts, err := options(query, "append", "loop")
	if err != nil {
		return nil, &URLError{Problem: err.Error() + " (a ? in a file name must be written %3F)"}
	}
	if v, ok := opts["append"]; ok {
		if source {
			return nil, &URLError{Problem: `option "append" is for outputs: a file is read from its beginning`}
		}
		e.append, err = parseBool("append", v)
	}
	if v, ok := opts["loop"]; ok && err == nil {
		if !source {
			return nil, &URLError{Problem: `option "loop" is for sources: a file is written once`}
		}
		e.loop, err = parseBool("loop", v)
	}
	return e, err
}

// Begun reports whether the file was opened to be written to.
func (e *fileEnd) Begun() bool { return e.begun.Load() }

// Resume has the end go on behind what is in the file, as it does after an error:
// another end has begun it for the same output.
func (e *fileEnd) Resume() { e.begun.Store(true) }

// Path is the file's name.
func (e *fileEnd) Path() string { return e.path }

// URL implements End.
func (e *fileEnd) URL() string {
	u := "file://" + e.path
	switch {
	case e.append:
		u += "?append=1"
	case e.loop:
		u += "?loop=1"
	}
	return u
}

// Traits implements End. A file that is written is opened again after an error:
// there may be room again.
func (e *fileEnd) Traits() Traits {
	return Traits{Again: !e.source, Last: e.source, StartWait: -1, Patience: -1}
}

// Close implements End.
func (e *fileEnd) Close() error { return nil }

// OpenSource implements SourceEnd.
func (e *fileEnd) OpenSource(context.Context) (Source, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return nil, fileError("read", e.path, err)
	}
	if e.loop {
		return e.cut(&loopReader{File: f}), nil
	}
	return e.cut(f), nil
}

// loopReader is a file without an end. One that holds nothing, or cannot be read
// from its beginning again, as a pipe cannot, ends.
type loopReader struct {
	*os.File
	got bool // something has come since the beginning
}

func (r *loopReader) Read(b []byte) (int, error) {
	for {
		n, err := r.File.Read(b)
		if n > 0 {
			r.got = true
			return n, nil
		}
		if !errors.Is(err, io.EOF) || !r.got {
			return n, err
		}
		r.got = false
		if _, failed := r.Seek(0, io.SeekStart); failed != nil {
			return 0, err
		}
	}
}

// OpenSink implements SinkEnd.
func (e *fileEnd) OpenSink(context.Context) (Sink, error) {
	// Opened for reading, too: of a named pipe that does not wait for its reader.
	flags := os.O_CREATE | os.O_RDWR | os.O_TRUNC
	if e.append || e.begun.Load() {
		flags = os.O_CREATE | os.O_RDWR | os.O_APPEND
	}
	f, err := os.OpenFile(e.path, flags, 0o666)
	if err != nil {
		return nil, fileError("write", e.path, err)
	}
	s := &fileSink{path: e.path, f: f, writerSink: newWriterSink(f)}
	if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
		s.cuts, s.size = true, st.Size()
	}
	e.begun.Store(true)
	return s, nil
}

// FileError says which file could not be used, and why.
type FileError struct {
	Op   string // read or write
	Path string
	Err  error
}

func fileError(op, path string, err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		err = p.Err
	}
	return &FileError{op, path, err}
}

func (e *FileError) Error() string { return e.Op + " file " + e.Path + ": " + e.Err.Error() }

func (e *FileError) Unwrap() error { return e.Err }

// fileSink keeps the file a row of whole messages.
type fileSink struct {
	*writerSink
	path string
	f    *os.File
	cuts bool  // an ordinary file, that can be cut
	size int64 // of what is whole in it
}

// WriteBatch implements Sink. Of a batch that does not fit nothing stays, so that
// no message is cut.
func (s *fileSink) WriteBatch(msgs [][]byte) error {
	if err := s.writerSink.WriteBatch(msgs); err != nil {
		if s.cuts {
			_ = s.f.Truncate(s.size) // the first error is the one to tell
		}
		return fileError("write", s.path, err)
	}
	for _, m := range msgs {
		s.size += int64(len(m))
	}
	return nil
}

// Close implements Sink.
func (s *fileSink) Close() error {
	if err := s.writerSink.Close(); err != nil {
		return fileError("write", s.path, err)
	}
	return nil
}
