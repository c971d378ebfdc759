package access

import (
	"strings"
	"testing"
	"unicode"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// FuzzWish, with its seeds in testdata: no stream id ends anything, says what it does not say, or gets into a
// log or the API what is not to be seen there.
func FuzzWish(f *testing.F) {
	p, err := NewPort(config.Listener{Name: "main", Address: ":0"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"live/a", "a", "read:x"} {
		if _, err := p.Publish(config.Ref{Stream: name}); err != nil {
			f.Fatal(err)
		}
		if _, err := p.Play(config.Ref{Stream: name}); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, id string) {
		w, err := parseWish(id)
		if err != nil {
			if no := badID(err); no.Code != srtcore.RejBadRequest && no.Code != srtcore.RejBadMode || len(id) > 40 && strings.Contains(no.Text, id) {
				t.Errorf("%q: refused with %d, %q", id, no.Code, no.Text)
			}
			return
		}
		switch {
		case w.stream == "" || !strings.Contains(id, w.stream) || !strings.Contains(id, w.user):
			t.Fatalf("%q is said to mean %+v", id, w)
		case strings.ContainsFunc(id, unicode.IsControl) || len(id) > srtcore.MaxStreamID:
			t.Fatalf("%q is taken", id)
		}
		p.mu.Lock()
		asked := w
		e, other := p.find(&w)
		p.mu.Unlock()
		if e != nil && (other || e.ref.Stream != w.stream || e.mode != w.mode || !strings.HasSuffix(asked.stream, w.stream) || asked.mode != modeOpen && asked.mode != w.mode) {
			t.Fatalf("%q led to %+v, asked %+v", id, e.ref, w)
		}
		if s := shownName(w.stream); len(s) > 100 {
			t.Errorf("%q is shown as %q", id, s)
		}
		if s := shownID(id); strings.Contains(id, ",token=hunter2") && strings.Contains(s, "hunter2") && !strings.Contains(strings.ReplaceAll(id, "token=hunter2", ""), "hunter2") {
			t.Errorf("%q is shown as %q", id, s)
		}
	})
}
