package config

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// watchEvery is how often a file is looked at. Looking at the content sees every
// way in which it can change: written in place, replaced by an editor's rename,
// a directory of symbolic links swapped as Kubernetes does it, on any file system.
const watchEvery = time.Second

// Watch calls changed each time the content of the file, or of a secret's file
// that it names, has changed and then stayed the same from one look to the next.
// While the file is missing nothing has changed. It returns when ctx ends.
func Watch(ctx context.Context, path string, changed func()) {
	w := newWatcher(path)
	t := time.NewTicker(watchEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if w.changed() {
				changed()
			}
		}
	}
}

type watcher struct {
	path       string
	told, last sum
	text       sum
	files      []string // that the text names
}

func newWatcher(path string) *watcher {
	w := &watcher{path: path}
	w.told, _ = w.look()
	w.last = w.told
	return w
}

// changed looks, and reports a change that has settled.
func (w *watcher) changed() bool {
	now, ok := w.look()
	if !ok {
		return false
	}
	settled := now == w.last && now != w.told
	if w.last = now; settled {
		w.told = now
	}
	return settled
}

type sum = [sha256.Size]byte

// look returns what stands for the content of the file and the secrets in
// others.
func (w *watcher) look() (now sum, ok bool) {
	// What is no file, such as a pipe, can be read once.
	if st, err := os.Stat(w.path); err != nil || !st.Mode().IsRegular() {
		return now, false
	}
	text, err := readAtMost(w.path, maxFile)
	if err != nil {
		return now, false
	}
	if s := sha256.Sum256(text); s != w.text {
		d := newDecoder(w.path)
		c := Default()
		d.document(text, &c)
		w.text, w.files = s, d.files
	}
	h := sha256.New()
	h.Write(w.text[:])
	for _, f := range w.files {
		secret, err := readAtMost(f, maxSecret)
		s := sha256.Sum256(secret)
		if err == nil {
			h.Write(s[:])
		}
	}
	return sum(h.Sum(nil)), true
}
