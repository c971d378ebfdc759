package control_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/api/fake"
)

// shown is a daemon with these routes, made anew for each question.
type shown struct {
	*fake.Daemon
	make func() []route.Snapshot
}

func (s shown) Routes() []route.Snapshot { return s.make() }

func liveOf(t *testing.T, d control.Daemon) (l control.Live) {
	t.Helper()
	_, body, _ := ask(t, http.DefaultClient, "GET", startServer(t, options(d)).URL+"/v1/stats", "", withToken)
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRowsStayInTheirPlace: a daemon hands sessions out in any order.
func TestRowsStayInTheirPlace(t *testing.T) {
	d := shown{fake.New(0), func() []route.Snapshot {
		r := fake.Route("many", "srt://:1")
		e := fake.End("o1", "srt://:2", route.Up)
		for i := range 120 {
			e.Sessions = append(e.Sessions, fake.Session(fmt.Sprint("c", i+1), "h:1", ""))
		}
		rand.Shuffle(len(e.Sessions), func(i, k int) { e.Sessions[i], e.Sessions[k] = e.Sessions[k], e.Sessions[i] })
		r.Outputs = []route.EndSnapshot{e}
		return []route.Snapshot{r}
	}}
	for i, c := range liveOf(t, d).Connections {
		if want := fmt.Sprint("c", i+1); c.ID != want {
			t.Fatalf("row %d is %s, want %s", i, c.ID, want)
		}
	}
}

// TestLocalEndsHaveAnAddress: who has no peer is shown by where the media goes.
func TestLocalEndsHaveAnAddress(t *testing.T) {
	d := shown{fake.New(0), func() []route.Snapshot {
		r := fake.Route("one", "unix:/run/in.sock")
		r.Source.Sessions = []route.SessionSnapshot{{ID: "c1"}}
		file := fake.End("o1", "file:///var/a.ts", route.Up)
		file.Sessions = []route.SessionSnapshot{{ID: "c2"}}
		far := fake.End("o2", "srt://h:1", route.Up)
		far.Sessions = []route.SessionSnapshot{fake.Session("c3", "192.0.2.1:1", "")}
		r.Outputs = []route.EndSnapshot{file, far}
		return []route.Snapshot{r}
	}}
	var got []string
	for _, c := range liveOf(t, d).Connections {
		got = append(got, c.Where())
	}
	if want := []string{"unix:/run/in.sock", "file:///var/a.ts", "192.0.2.1:1"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestARouteThatWasJustAdded has done nothing yet: it is idle, and not ready.
func TestARouteThatWasJustAdded(t *testing.T) {
	d := shown{fake.New(0), func() []route.Snapshot { return []route.Snapshot{{Name: "new"}} }}
	if s := liveOf(t, d).Routes[0].Source; s.State != route.Idle {
		t.Errorf("state %q", s.State)
	}
	if status, body, _ := ask(t, http.DefaultClient, "GET", startServer(t, options(d)).URL+"/readyz", "", nil); status != 503 {
		t.Errorf("readyz: %d %s", status, body)
	}
}

// TestTotalsSurviveAFailover: another source is in use, and nothing went down.
func TestTotalsSurviveAFailover(t *testing.T) {
	first, second := fake.End("", "srt://a:1", route.Up), fake.End("", "srt://b:1", route.Up)
	first.Opened, first.Failures, second.Opened, second.Failures = 7, 3, 1, 0
	d := shown{fake.New(0), func() []route.Snapshot {
		r := fake.Route("pair", "")
		r.Source, r.Spares = first, []route.EndSnapshot{second}
		return []route.Snapshot{r}
	}}
	url := startServer(t, options(d)).URL
	for range 2 {
		text, _ := scrape(t, url)
		for _, want := range []string{`weirline_route_source_sessions_opened_total{route="pair"} 8`, `weirline_route_source_failures_total{route="pair"} 3`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is missing", want)
			}
		}
		first, second = second, first
	}
}
