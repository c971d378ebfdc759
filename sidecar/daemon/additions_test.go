package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/port"
)

// route is one of the daemon's, by name.
func (r *rig) route(name string) route.Snapshot {
	r.t.Helper()
	for _, s := range r.Routes() {
		if s.Name == name {
			return s
		}
	}
	r.t.Fatalf("no route %s in %s", name, r.names())
	return route.Snapshot{}
}

// outputs are the ids and states of a route's.
func (r *rig) outputs(name string) string {
	r.t.Helper()
	var all []string
	for _, o := range r.route(name).Outputs {
		all = append(all, o.ID+" "+string(o.State))
	}
	return strings.Join(all, ", ")
}

func (r *rig) wantFile(path string, want []byte) {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%d bytes in %s", len(want), filepath.Base(path)), func() bool {
		st, err := os.Stat(path)
		return err == nil && st.Size() >= int64(len(want))
	})
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		r.t.Errorf("%s: %d bytes, want %d, or others; %v", filepath.Base(path), len(got), len(want), err)
	}
}

// text is messages first..last-1 of a stream.
func text(stream byte, first, last int) (all []byte) {
	for i := first; i < last; i++ {
		all = append(all, message(stream, i)...)
	}
	return all
}

// appear makes a file that is whole as soon as it is there.
func appear(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".part", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		t.Fatal(err)
	}
}

// What the API has added stays when the route's entry changes, whatever changed in
// it: a recording goes on behind what it has, and a player finds its stream again.
func TestAddedOutputsOutliveAReload(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	file := filepath.Join(t.TempDir(), "rec.ts")
	id, err := r.AddOutput("a", config.Output{URL: "file://" + file})
	if err != nil {
		t.Fatal(err)
	}
	also := config.Ref{Listener: "main", Stream: "also"}
	if _, err := r.AddOutput("a", config.Output{Play: &also}); err != nil {
		t.Fatal(err)
	}
	publisher := r.publish("a")
	r.feed(publisher, 'a', 0, 20)
	r.wantFile(file, text('a', 0, 20))
	publisher.Close()

	r.write("routes:\n" + strings.Replace(studio("a"), "name: a,", "name: a, max-age: 3s,", 1))
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the outputs to be there again", func() bool { return r.outputs("a") == "o1 waiting, a1 up, a2 waiting" })
	player := r.play("also")
	publisher = r.publish("a")
	r.eventually("the player", func() bool { return len(r.route("a").Outputs[2].Sessions) == 1 })
	r.feed(publisher, 'a', 20, 40)
	r.wantStream(player, 'a', 20, 40)
	r.wantFile(file, text('a', 0, 40))

	if err := r.RemoveOutput("a", id); err != nil {
		t.Fatal(err)
	}
	if _, err := r.AddOutput("a", config.Output{URL: "file://" + file}); err != nil {
		t.Fatal(err)
	}
	r.feed(publisher, 'a', 40, 60)
	r.wantFile(file, text('a', 40, 60)) // another output: a new file
	if got := r.outputs("a"); got != "o1 waiting, a2 up, a3 up" {
		t.Errorf("outputs: %s", got)
	}
}

// An output can be added to a route that does not run: it begins with the route,
// and is not lost when that fails once more.
func TestAddedOutputsWaitForTheirRoute(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.ts"), filepath.Join(t.TempDir(), "out.ts")
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: f, source: 'file://%s' }\n", in))
	r.eventually("the route to fail", func() bool { return r.route("f").Source.State == route.Failed })
	id, err := r.AddOutput("f", config.Output{URL: "file://" + out})
	if err != nil {
		t.Fatal(err)
	}
	failures := func() (n int) {
		all, _ := r.Events(0)
		for _, e := range all {
			if e.Kind == "failed" {
				n++
			}
		}
		return n
	}
	if o := r.route("f").Outputs; len(o) != 1 || o[0].ID != id {
		t.Errorf("outputs: %+v", o)
	}
	r.eventually("the failure to be told", func() bool { return failures() > 0 })
	appear(t, in, text('f', 0, 30))
	r.wantFile(out, text('f', 0, 30))
	r.eventually("the route to end", func() bool { return r.route("f").Source.State == route.Done })
	if n := failures(); n != 1 {
		t.Errorf("the same failure was told %d times", n)
	}
	if _, err := r.AddOutput("f", config.Output{URL: "file://" + out + "2"}); !errors.Is(err, control.ErrConflict) || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("an output of a route that has ended: %v", err)
	}
}

// Of a route that begins anew because its listener has changed nothing else does.
func TestOutputsOfARouteWhoseListenerMoves(t *testing.T) {
	r := newRig(t, "routes:\n"+strings.Replace(studio("a"), "outputs: [", "outputs: [ { url: 'file:///dev/null' },", 1))
	also := config.Ref{Listener: "main", Stream: "also"}
	if _, err := r.AddOutput("a", config.Output{Play: &also}); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveOutput("a", "o1"); err != nil {
		t.Fatal(err)
	}
	if err := r.RemoveOutput("a", "o1"); !errors.Is(err, control.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	r.port = port.Free(t)
	r.write("routes:\n" + strings.Replace(studio("a"), "outputs: [", "outputs: [ { url: 'file:///dev/null' },", 1))
	if err := r.Reload(); err != nil {
		t.Fatal(err)
	}
	r.eventually("the outputs", func() bool { return r.outputs("a") == "o2 waiting, a1 waiting" })
	player, publisher := r.play("also"), r.publish("a")
	r.eventually("the player", func() bool { return len(r.route("a").Outputs[1].Sessions) == 1 })
	r.feed(publisher, 'a', 0, 20)
	r.wantStream(player, 'a', 0, 20)
}

// An added output whose address is taken when its route begins is tried again, and
// the route runs without it meanwhile.
func TestAddedOutputWhoseAddressIsTaken(t *testing.T) {
	in := filepath.Join(t.TempDir(), "in.ts")
	r := newRig(t, fmt.Sprintf("routes:\n  - { name: f, source: 'file://%s' }\n", in))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r.eventually("the route to fail", func() bool { return r.route("f").Source.State == route.Failed })
	if _, err := r.AddOutput("f", config.Output{URL: fmt.Sprintf("tcp://%s?listen=1", taken.Addr())}); err != nil {
		t.Fatal(err)
	}
	appear(t, in, text('f', 0, 30))
	r.eventually("the output to fail", func() bool {
		o := r.route("f").Outputs
		return len(o) == 1 && o[0].State == route.BackOff && strings.Contains(o[0].Error, "in use")
	})
	r.eventually("the route to run without it", func() bool { return r.route("f").Source.State == route.Up && r.Ready() == nil })
	taken.Close()
	r.eventually("the output", func() bool { return r.outputs("f") == "a1 waiting" })
	c, err := net.Dial("tcp", taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(patience))
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, text('f', 0, 30)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
