package endpoint

import (
	"context"
	"net/url"
	"os"
	"strings"
)

// fileEnd is a file: read once from its beginning, as fast as the outputs take
// it, or created anew and written.
type fileEnd struct {
	cutter
	path string
}

func parseFile(raw string) (*fileEnd, error) {
	path := strings.TrimPrefix(raw[len("file:"):], "//")
	path, err := url.PathUnescape(path)
	if err != nil {
		return nil, &URLError{Problem: "file name: a lone % must be written %25"}
	}
	if path == "" {
		return nil, &URLError{Problem: "file:// needs a path, as in file:///var/media/a.ts"}
	}
	return &fileEnd{path: path}, nil
}

func (e *fileEnd) URL() string    { return "file://" + e.path }
func (e *fileEnd) Traits() Traits { return Traits{StartWait: -1, Patience: -1} }
func (e *fileEnd) Close() error   { return nil }

func (e *fileEnd) OpenSource(context.Context) (Source, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return nil, err
	}
	return e.cut(f), nil
}

func (e *fileEnd) OpenSink(context.Context) (Sink, error) {
	f, err := os.Create(e.path)
	if err != nil {
		return nil, err
	}
	return newWriterSink(f), nil
}
