package config

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "weirline.yaml")
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("secret", "0123456789abcdef")
	put("weirline.yaml", "control: {token-file: secret}\n")
	w := newWatcher(path)
	after := func(what string, want int, change func()) {
		t.Helper()
		change()
		told := 0
		for range 3 {
			if w.changed() {
				told++
			}
		}
		if told != want {
			t.Errorf("%s: told %d times, want %d", what, told, want)
		}
	}
	after("nothing", 0, func() {})
	after("written in place", 1, func() { put("weirline.yaml", "listen: off\ncontrol: {token-file: secret}\n") })
	after("renamed over", 1, func() {
		put("new", "control: {token-file: secret}\n")
		if err := os.Rename(filepath.Join(dir, "new"), path); err != nil {
			t.Fatal(err)
		}
	})
	after("a secret", 1, func() { put("secret", "another secret that is long") })
	after("touched", 0, func() { put("secret", "another secret that is long") })
	after("missing", 0, func() { os.Remove(path) })
	after("back", 0, func() { put("weirline.yaml", "control: {token-file: secret}\n") })
	after("broken", 1, func() { put("weirline.yaml", "control: {\n") }) // whoever loads it says so

	// As Kubernetes does it: file -> ..data/file, ..data -> a folder; ..data is
	// swapped.
	after("a link", 1, func() {
		for i, text := range []string{"listen: off\n", "listen: 127.0.0.1:1\n"} {
			sub := filepath.Join(dir, []string{"v1", "v2"}[i])
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Fatal(err)
			}
			put(filepath.Join(filepath.Base(sub), "weirline.yaml"), text)
		}
		link(t, "v1", filepath.Join(dir, "..data"))
		link(t, filepath.Join("..data", "weirline.yaml"), path)
	})
	after("a link swapped", 1, func() { link(t, "v2", filepath.Join(dir, "..data")) })

	for i := range 5 {
		put("v2/weirline.yaml", "#"+string(rune('a'+i)))
		if w.changed() {
			t.Error("told while the file was changing")
		}
	}
}

func TestWatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Watch(ctx, write(t, ""), func() {})
	}()
	cancel()
	<-ended
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at+".tmp"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(at+".tmp", at); err != nil {
		t.Fatal(err)
	}
}
