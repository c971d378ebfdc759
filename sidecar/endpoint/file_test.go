package endpoint

import (
	"bytes"
	"errors"
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
