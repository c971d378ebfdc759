package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
)

var _ control.Daemon = (*Daemon)(nil)

func studio(name string) string {
	return fmt.Sprintf("  - { name: %s, sources: [ { publish: { listener: main, stream: %s } } ], outputs: [ { play: { listener: main, stream: %s } } ] }\n", name, name, name)
}

// A reload takes away, changes and adds routes while another carries media: that
// one loses nothing.
func TestReloadLeavesOtherRoutesAlone(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a")+studio("b"))
	player := r.play("a")
	publisher := r.publish("a")
	r.up("a", 1)
	const n = 2000
	var wg sync.WaitGroup
	wg.Go(func() { r.feed(publisher, 'a', 0, n) })
	for i := range 8 {
		queue := 1 << (20 + i)
		r.write("routes:\n" + studio("a") + strings.Replace(studio("b"), "name: b,", fmt.Sprintf("name: b, queue: %d,", queue), 1) + studio(fmt.Sprintf("c%d", i)))
		if err := r.Reload(); err != nil {
			t.Fatal(err)
		}
		if names := r.names(); names != fmt.Sprintf("a b c%d", i) {
			t.Errorf("routes after a reload: %s", names)
		}
	}
	r.wantStream(player, 'a', 0, n)
	wg.Wait()
}

func (r *rig) names() string {
	var names []string
	for _, s := range r.Routes() {
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

// A listener takes new rules over without dropping anybody.
func TestListenerChangesInPlace(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	text, err := os.ReadFile(r.file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "latency=120'", "latency=120', max-connections: 2", 1)
	if err := os.WriteFile(r.file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	go r.feed(publisher, 'a', 0, 100)
	r.wantStream(player, 'a', 0, 100)
	if l := r.Listeners(); len(l) != 1 || l[0].Connections != 2 {
		t.Errorf("listeners: %+v", l)
	}
}

func TestBadFileChangesNothing(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	r.write("routes:\n" + studio("a") + "  - { name: b, sorces: [] }\n")
	err := r.Reload()
	if err == nil || !errors.Is(err, control.ErrInvalid) {
		t.Fatalf("Reload = %v", err)
	}
	for _, want := range []string{filepath.Base(r.file), ":5", "sorces", "sources"} {
		if said := r.Status().ConfigError; !strings.Contains(said, want) {
			t.Errorf("the status says %q, without %q", said, want)
		}
	}
	go r.feed(publisher, 'a', 0, 50)
	r.wantStream(player, 'a', 0, 50)
	r.write("routes:\n" + studio("a"))
	if err := r.Reload(); err != nil || r.Status().ConfigError != "" {
		t.Errorf("the good file again: %v, %q", err, r.Status().ConfigError)
	}
}

// Outputs come and go under load; the one that stays gets everything.
func TestOutputsComeAndGo(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	const n = 2000
	var wg sync.WaitGroup
	wg.Go(func() { r.feed(publisher, 'a', 0, n) })
	for i := range 5 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		id, err := r.AddOutput("a", config.Output{URL: "file://" + path})
		if err != nil {
			t.Fatal(err)
		}
		r.eventually("the file to grow", func() bool { s, err := os.Stat(path); return err == nil && s.Size() > 0 })
		if err := r.RemoveOutput("a", id); err != nil {
			t.Error(err)
		}
		if err := r.RemoveOutput("a", id); !errors.Is(err, control.ErrNotFound) {
			t.Errorf("removed twice: %v", err)
		}
	}
	r.wantStream(player, 'a', 0, n)
	wg.Wait()
	if _, err := r.AddOutput("a", config.Output{URL: "ftp://x"}); !errors.Is(err, control.ErrInvalid) {
		t.Errorf("an unknown scheme: %v", err)
	}
	if _, err := r.AddOutput("nobody", config.Output{URL: "file:///dev/null"}); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("an unknown route: %v", err)
	}
}

func TestRoutesOfTheAPI(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	ref := config.Ref{Listener: "main", Stream: "x"}
	x := config.Route{Name: "x", Sources: []config.Source{{Publish: &ref}}, Outputs: []config.Output{{Play: &ref}}}
	if err := r.AddRoute(x); err != nil {
		t.Fatal(err)
	}
	if err := r.AddRoute(x); !errors.Is(err, control.ErrConflict) {
		t.Errorf("added twice: %v", err)
	}
	if err := r.AddRoute(config.Route{Name: "y"}); !errors.Is(err, control.ErrInvalid) {
		t.Errorf("without a source: %v", err)
	}
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	player, publisher := r.play("x"), r.publish("x")
	r.up("x", 1)
	go r.feed(publisher, 'x', 0, 50)
	r.wantStream(player, 'x', 0, 50)

	id := ""
	for _, s := range r.Routes() {
		if s.Name == "x" {
			id = s.Outputs[0].Sessions[0].ID
			if got := s.Outputs[0].Sessions[0].StreamID; !strings.Contains(got, "r=x") {
				t.Errorf("stream id %q", got)
			}
		}
	}
	if c, err := r.Connection(id); err != nil || c == nil {
		t.Errorf("connection %s: %v", id, err)
	}
	if err := r.Kick(id); err != nil {
		t.Fatal(err)
	}
	select {
	case <-player.Done():
	case <-r.ctx.Done():
		t.Fatal("the player was not disconnected")
	}
	r.eventually("the connection to be forgotten", func() bool { return errors.Is(r.Kick(id), control.ErrNotFound) })
	if err := r.RemoveRoute("x"); err != nil {
		t.Error(err)
	}
	if err := r.RemoveRoute("x"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if names := r.names(); names != "a" {
		t.Errorf("routes: %s", names)
	}
}

// A route whose port is taken says so, is tried again, and hurts nobody.
func TestPortInUse(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := newRig(t, "routes:\n"+studio("a")+fmt.Sprintf("  - { name: b, sources: [ { url: 'srt://%s?mode=listener' } ] }\n", taken.LocalAddr()))
	s := r.Routes()[1]
	if s.Source.State != route.Failed || !strings.Contains(s.Source.Error, "in use") {
		t.Errorf("the route on a taken port: %+v", s.Source)
	}
	if r.Ready() == nil {
		t.Error("ready although a route does not run")
	}
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	go r.feed(publisher, 'a', 0, 50)
	r.wantStream(player, 'a', 0, 50)
	taken.Close()
	r.eventually("the route to run", func() bool { return r.Routes()[1].Source.State == route.Waiting && r.Ready() == nil })
}

func TestEventsAreNumberedAndBounded(t *testing.T) {
	var e events
	e.init()
	_, more := e.since(0)
	for i := range keptEvents + 10 {
		e.add(control.Event{Text: fmt.Sprint(i)})
	}
	select {
	case <-more:
	case <-time.After(patience):
		t.Fatal("nobody was told")
	}
	all, _ := e.since(0)
	if len(all) != keptEvents || all[0].Number != 11 || all[0].Text != "10" || all[len(all)-1].Number != keptEvents+10 {
		t.Errorf("%d events, from %+v", len(all), all[0])
	}
	if rest, _ := e.since(keptEvents + 8); len(rest) != 2 {
		t.Errorf("%d events since the last but two", len(rest))
	}
	if none, _ := e.since(keptEvents + 10); len(none) != 0 {
		t.Errorf("%d events that nobody has seen", len(none))
	}
}
