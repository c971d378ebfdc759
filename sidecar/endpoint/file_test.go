package endpoint

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, want %d, or altered; %v", filepath.Base(path), len(got), len(want), err)
	}
}

func TestFileIsReplacedOrContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ts")
	one, two := media(10), media(20)
	for _, c := range []struct {
		raw  string
		b    []byte
		want []byte
	}{
		{"file://" + path, one, one},
		{"file://" + path, two, two},
		{"file://" + path + "?append=1", one, append(bytes.Clone(two), one...)},
		{"file://" + path + "?append=0", one, one},
	} {
		if err := send(t.Context(), mustSink(t, c.raw), c.b); err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, c.want)
	}
}

// The same output opened again, after an error, keeps what it has written.
func TestFileGoesOnAfterAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ts")
	e := mustSink(t, "file://"+path)
	one := media(10)
	for range 2 {
		if err := send(t.Context(), e, one); err != nil {
			t.Fatal(err)
		}
	}
	wantFile(t, path, append(bytes.Clone(one), one...))
}

func TestFileErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		path  string
		err   error
		final bool
	}{
		{filepath.Join(dir, "no", "such.ts"), os.ErrNotExist, true},
		{dir, syscall.EISDIR, true},
		{"/dev/full", syscall.ENOSPC, false},
	} {
		err := send(t.Context(), mustSink(t, "file://"+c.path), media(7))
		if !errors.Is(err, c.err) || strings.Count(err.Error(), c.path) != 1 {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if f := Judge(err); f.Final != c.final || f.Advice == "" {
			t.Errorf("%s: judged %+v", c.path, f)
		}
	}
	_, err := mustSource(t, "file://"+dir+"/none").OpenSource(t.Context())
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "read file "+dir+"/none") {
		t.Errorf("a source: %v", err)
	}
}

func TestFileThatLoops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.ts")
	one := media(10)
	if err := os.WriteFile(path, one, 0o600); err != nil {
		t.Fatal(err)
	}
	e := mustSource(t, "file://"+path+"?loop=1")
	src, err := e.OpenSource(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []byte
	msgs := make([][]byte, 3)
	for len(got) < 5*len(one) {
		n, err := src.ReadBatch(msgs)
		if err != nil {
			t.Fatalf("after %d bytes: %v", len(got), err)
		}
		got = append(got, bytes.Join(msgs[:n], nil)...)
	}
	if want := bytes.Repeat(one, 7); !bytes.HasPrefix(want, got) {
		t.Error("what came is not the file again and again")
	}
	src.Close()

	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if src, err = e.OpenSource(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if n, err := src.ReadBatch(msgs); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("an empty one: %d, %v", n, err)
	}
}

func TestWhatEndsForGood(t *testing.T) {
	for raw, want := range map[string]bool{
		"file:///a": true, "file:///a?loop=1": true, "http://h/#reconnect=0": true, "srt://h:1?reconnect=0": true,
		"http://h/": false, "srt://h:1": false, "tcp://h:1?listen=0": false, "unix:/a": false, "udp://h:1": false,
	} {
		if got := mustSource(t, raw).Traits().Last; got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}
