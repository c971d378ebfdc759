package daemon

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/weirline/weirline/sidecar/route"
)

// kinds are the events of a kind, oldest first.
func (r *rig) kinds(kind string) (texts []string) {
	all, _ := r.Events(0)
	for _, e := range all {
		if e.Kind == kind {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

// A listener whose port is taken at a reload is tried again, and begins with its
// routes when the port is free; the rest of the configuration is in force at once.
func TestListenerWhosePortIsTaken(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	r := newRig(t, "routes:\n"+studio("a"))
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	text := fmt.Sprintf(`listeners:
  - { name: main, address: 'srt://%s?mode=listener&latency=120' }
  - { name: second, address: '%s' }
routes:
%s%s%s`, r.address(), taken.LocalAddr(), studio("a"), strings.ReplaceAll(studio("b"), "listener: main", "listener: second"), studio("c"))
	if err := os.WriteFile(r.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Reload(); err != nil {
		t.Fatalf("Reload = %v, although the file is good", err)
	}
	if s := r.Status(); s.ConfigError != "" {
		t.Errorf("the status says %q", s.ConfigError)
	}
	if names := r.names(); names != "a b c" {
		t.Errorf("routes: %s", names)
	}
	r.eventually("b to say what it lacks", func() bool {
		s := r.route("b").Source
		return s.State == route.Failed && strings.Contains(s.Error, "listener") && strings.Contains(s.Error, "in use")
	})
	if err := r.Ready(); err == nil || !strings.Contains(err.Error(), `listener "second"`) {
		t.Errorf("Ready = %v", err)
	}
	l := r.Listeners()
	if len(l) != 2 || l[0].Error != "" || !strings.Contains(l[1].Error, "in use") || l[1].Address != taken.LocalAddr().String() {
		t.Errorf("listeners: %+v", l)
	}
	r.feed(publisher, 'a', 0, 50)
	r.wantStream(player, 'a', 0, 50)
	if told := r.kinds("failed"); len(told) > 2 {
		t.Errorf("told again and again: %q", told)
	}

	taken.Close()
	r.eventually("the listener to open", func() bool { return r.Ready() == nil && len(r.kinds("listening")) == 1 })
	r.eventually("b to run", func() bool { return r.route("b").Source.State == route.Waiting })
	r.port = taken.LocalAddr().(*net.UDPAddr).Port
	player, publisher = r.play("b"), r.publish("b")
	r.up("b", 1)
	r.feed(publisher, 'b', 0, 50)
	r.wantStream(player, 'b', 0, 50)
	if l := r.Listeners(); len(l) != 2 || l[1].Error != "" {
		t.Errorf("listeners: %+v", l)
	}
}

// Two ends on one port, or one file, are told by the file with line and key, and
// nothing changes.
func TestTwoRoutesOnOnePort(t *testing.T) {
	r := newRig(t, "routes:\n"+studio("a"))
	player, publisher := r.play("a"), r.publish("a")
	r.up("a", 1)
	for what, routes := range map[string]string{
		"udp":            "  - { name: b, source: 'srt://:%d?mode=listener' }\n  - { name: c, source: 'udp://127.0.0.1:%d' }\n",
		"tcp":            "  - { name: b, source: 'tcp://127.0.0.1:%d' }\n  - { name: c, source: 'udp://239.0.0.1:%d', outputs: [ 'tcp://:%[1]d?listen=1' ] }\n",
		"of listen main": "  - { name: b, source: 'udp://:5999' }\n  - { name: c, source: 'udp://127.0.0.1:" + fmt.Sprint(r.port) + "' }\n",
	} {
		if strings.Contains(routes, "%") {
			routes = fmt.Sprintf(routes, 40404, 40404)
		}
		r.write("routes:\n" + studio("a") + routes)
		err := r.Reload()
		if err == nil {
			t.Errorf("%s: taken over", what)
			continue
		}
		for _, want := range []string{r.file + ":6: ", "routes[2].", "port", "used by", "in line", "choose another"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; without %q", what, err, want)
			}
		}
	}
	if names := r.names(); names != "a" {
		t.Errorf("routes: %s", names)
	}
	r.feed(publisher, 'a', 0, 50)
	r.wantStream(player, 'a', 0, 50)
}
