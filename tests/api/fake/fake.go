// Package fake is a daemon that moves no media: its numbers move when it is
// told to, so that the unit tests of the control surface know what to expect.
//
// Lives here: Daemon, an implementation of control.Daemon. May import: control,
// config, route, srtcore. Never: sockets.
package fake

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
)

// Secret must not be seen anywhere.
const Secret = "correct-horse-battery"

// Refused is the source of a route that AddRoute refuses, with a text that holds
// Secret.
const Refused = "srt://refused.example:1"

// Daemon implements control.Daemon.
type Daemon struct {
	mu     sync.Mutex
	routes []route.Snapshot
	level  slog.Level
	events []control.Event
	more   chan struct{}
	steps  int
	kicked []string // ids
	// ReloadError is what Reload fails with.
	ReloadError error
}

// New returns a daemon with three routes and players on one of them.
func New(players int) *Daemon {
	d := &Daemon{more: make(chan struct{})}
	studio := Route("studio-a", "srt://:9000?mode=listener&latency=200&passphrase=(hidden)")
	studio.Source.Sessions = []route.SessionSnapshot{Session("c1", "198.51.100.20:40112", "#!::r=live/studio-a,m=publish")}
	studio.Outputs = []route.EndSnapshot{
		End("o1", "srt://203.0.113.7:9000?latency=200", route.Up), End("o2", "srt://:9100?mode=listener", route.Up),
		End("o3", "file:///var/rec/studio-a.ts", route.BackOff),
	}
	studio.Outputs[2].Error, studio.Outputs[2].Failures = "write /var/rec/studio-a.ts: no space left on device", 4
	studio.Outputs[0].Sessions = []route.SessionSnapshot{Session("c2", "203.0.113.7:9000", "")}
	for i := range players {
		s := Session(fmt.Sprintf("p%d", i+1), fmt.Sprintf("192.0.2.%d:%d", 10+i%200, 50000+i), fmt.Sprintf("#!::r=live/studio-a,m=request,u=viewer%d", i+1))
		s.User = fmt.Sprintf("viewer%d", i+1)
		studio.Outputs[1].Sessions = append(studio.Outputs[1].Sessions, s)
	}
	studio.Health = map[string]any{"bitrate": 6.1e6, "continuityErrors": 3, "syncLosses": 0, "pcrJitterMs": 0.42}
	backup := Route("field-unit", "srt://198.51.100.77:7001?streamid=field")
	backup.Source.State, backup.Source.Error, backup.Source.Failures = route.BackOff, "connect: no answer within 3 s", 12
	backup.Outputs = []route.EndSnapshot{End("o1", "udp://239.1.1.5:5000", route.Up)}
	dynamic := Route("http-7f3a", "http://127.0.0.1:9710/")
	dynamic.Dynamic = true
	dynamic.Outputs = []route.EndSnapshot{End("o1", "srt://192.0.2.200:9000?latency=120", route.Up)}
	dynamic.Outputs[0].Sessions = []route.SessionSnapshot{Session("c3", "192.0.2.200:9000", "live/x")}
	d.routes = []route.Snapshot{studio, backup, dynamic}
	d.event("info", "studio-a", "source-up", "198.51.100.20:40112 publishes")
	d.event("warn", "field-unit", "source-down", "no answer within 3 s; trying again in 8 s")
	d.event("error", "studio-a", "output-down", "/var/rec/studio-a.ts: no space left on device")
	return d
}

// Route returns a route without outputs.
func Route(name, url string) route.Snapshot {
	now := time.Now()
	return route.Snapshot{Time: now, Name: name, Source: End("", url, route.Up), Outputs: []route.EndSnapshot{}}
}

// End returns an end without sessions.
func End(id, url string, state route.State) route.EndSnapshot {
	return route.EndSnapshot{ID: id, URL: url, State: state, Since: time.Now(), Opened: 1, Sessions: []route.SessionSnapshot{}}
}

// Session returns an SRT connection.
func Session(id, peer, stream string) route.SessionSnapshot {
	return route.SessionSnapshot{ID: id, Peer: peer, StreamID: stream, SRT: &srtcore.Stats{
		PeerVersion: "1.5.4", SndKMState: "SECURED", RcvKMState: "SECURED", PBKeyLen: 16,
		MsRcvTsbPdDelay: 200, MsSndTsbPdDelay: 200, MbpsBandwidth: 480, ByteMSS: 1500,
	}}
}

// Advance lets time pass: every connection carries about six megabits a second
// and loses some.
func (d *Daemon) Advance(dt time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.steps++
	for i := range d.routes {
		r := &d.routes[i]
		r.Time, r.Uptime = time.Now(), r.Uptime+dt.Seconds()
		if r.Source.State == route.Up {
			n := uint64(dt.Seconds() * (570 + 20*float64(d.steps%4)))
			r.Media.Messages += n
			r.Media.Bytes += n * 1316
		}
		d.ends(&r.Source, dt, true)
		for k := range r.Outputs {
			d.ends(&r.Outputs[k], dt, false)
		}
	}
}

// ends copies what it changes: snapshots that were handed out stay as they were.
func (d *Daemon) ends(e *route.EndSnapshot, dt time.Duration, receive bool) {
	e.Sessions = slices.Clone(e.Sessions)
	for i := range e.Sessions {
		s := &e.Sessions[i]
		s.Uptime += dt.Seconds()
		if s.SRT == nil {
			continue
		}
		st := *s.SRT
		d.carry(&st, dt, int64(i), receive)
		s.SRT = &st
		s.Queue.Read += uint64(dt.Seconds() * 570)
		e.Queue.Read += uint64(dt.Seconds() * 570)
	}
}

func (d *Daemon) carry(st *srtcore.Stats, dt time.Duration, i int64, receive bool) {
	n := int64(dt.Seconds() * float64(570+20*int64(d.steps%4)))
	lost := (int64(d.steps)*7 + i*3) % 11
	if d.steps%40 > 30 {
		lost += 25 + i%7
	}
	st.MsTimeStamp += dt.Milliseconds()
	st.MsRTT = 24 + float64((int64(d.steps)*5+i*13)%17)/2
	if receive {
		st.PktRecvTotal += n + lost
		st.PktRecvUniqueTotal += n
		st.ByteRecvUniqueTotal += n * (1316 + 44)
		st.ByteRecvTotal += (n + lost) * (1316 + 44)
		st.PktRcvLossTotal += lost
		st.PktRcvRetrans += lost
		st.MsRcvBuf = 185 + (int64(d.steps)*3+i)%15
		return
	}
	st.PktSentTotal += n + lost
	st.PktSentUniqueTotal += n
	st.ByteSentUniqueTotal += n * (1316 + 44)
	st.ByteSentTotal += (n + lost) * (1316 + 44)
	st.PktSndLossTotal += lost
	st.PktRetransTotal += lost
	st.MsSndBuf = 30 + (int64(d.steps)*3+i)%12
}

// Event adds one, as the daemon would.
func (d *Daemon) Event(level, route, kind, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.event(level, route, kind, text)
}

func (d *Daemon) event(level, route, kind, text string) {
	d.events = append(d.events, control.Event{Number: uint64(len(d.events) + 1), Time: time.Now(), Level: level, Route: route, Kind: kind, Text: text})
	close(d.more)
	d.more = make(chan struct{})
}

// Status implements control.Daemon, as the other methods do.
func (d *Daemon) Status() control.Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	return control.Status{
		Version: "1.2.3", Started: time.Now().Add(-3 * time.Hour), PID: 4242, ConfigFile: "/etc/weirline/weirline.yaml",
		Loaded: time.Now().Add(-time.Hour), Goroutines: 31, Threads: 9, HeapBytes: 18 << 20,
	}
}

// Routes lists the routes.
func (d *Daemon) Routes() []route.Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := slices.Clone(d.routes)
	for i := range out {
		out[i].Outputs = slices.Clone(out[i].Outputs)
	}
	return out
}

// Listeners lists the shared ports.
func (d *Daemon) Listeners() []control.ListenerSnapshot {
	return []control.ListenerSnapshot{{
		Name: "main", Address: "0.0.0.0:9000", Connections: 3, Accepted: 51,
		Refused: map[string]uint64{"passphrase": 4, "limit": 1},
	}}
}

func (d *Daemon) find(name string) (*route.Snapshot, error) {
	for i := range d.routes {
		if d.routes[i].Name == name {
			return &d.routes[i], nil
		}
	}
	return nil, fmt.Errorf("route %q: %w", name, control.ErrNotFound)
}

// AddRoute adds one.
func (d *Daemon) AddRoute(c config.Route) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.find(c.Name); err == nil {
		return fmt.Errorf("route %q: %w", c.Name, control.ErrConflict)
	}
	if c.Sources[0].URL == Refused {
		return fmt.Errorf("sources[0].url %q: %w", c.Sources[0].URL+"?passphrase="+Secret, control.ErrInvalid)
	}
	r := Route(c.Name, c.Sources[0].URL)
	for i, o := range c.Outputs {
		r.Outputs = append(r.Outputs, End(fmt.Sprintf("o%d", i+1), o.URL, route.Connecting))
	}
	r.Dynamic = true
	d.routes = append(d.routes, r)
	return nil
}

// RemoveRoute removes one.
func (d *Daemon) RemoveRoute(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.find(name); err != nil {
		return err
	}
	d.routes = slices.DeleteFunc(d.routes, func(r route.Snapshot) bool { return r.Name == name })
	d.event("info", name, "config", "route removed")
	return nil
}

// AddOutput adds one.
func (d *Daemon) AddOutput(name string, o config.Output) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.find(name)
	if err != nil {
		return "", err
	}
	id := fmt.Sprintf("o%d", len(r.Outputs)+1)
	r.Outputs = append(slices.Clone(r.Outputs), End(id, o.URL, route.Connecting))
	return id, nil
}

// RemoveOutput removes one.
func (d *Daemon) RemoveOutput(name, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, err := d.find(name)
	if err != nil {
		return err
	}
	before := len(r.Outputs)
	r.Outputs = slices.DeleteFunc(slices.Clone(r.Outputs), func(e route.EndSnapshot) bool { return e.ID == id })
	if len(r.Outputs) == before {
		return fmt.Errorf("output %q of route %q: %w", id, name, control.ErrNotFound)
	}
	return nil
}

// Kick removes a session.
func (d *Daemon) Kick(id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	gone := false
	drop := func(e *route.EndSnapshot) {
		n := len(e.Sessions)
		e.Sessions = slices.DeleteFunc(slices.Clone(e.Sessions), func(s route.SessionSnapshot) bool { return s.ID == id })
		gone = gone || len(e.Sessions) < n
	}
	for i := range d.routes {
		drop(&d.routes[i].Source)
		for k := range d.routes[i].Outputs {
			drop(&d.routes[i].Outputs[k])
		}
	}
	if !gone {
		return fmt.Errorf("connection %q: %w", id, control.ErrNotFound)
	}
	d.kicked = append(d.kicked, id)
	d.event("warn", "", "kicked", "connection "+id)
	return nil
}

// WasKicked reports whether the connection was.
func (d *Daemon) WasKicked(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Contains(d.kicked, id)
}

// Connection knows the ids but has no connections.
func (d *Daemon) Connection(id string) (*srtcore.Conn, error) {
	for _, r := range d.Routes() {
		for _, e := range append([]route.EndSnapshot{r.Source}, r.Outputs...) {
			if slices.ContainsFunc(e.Sessions, func(s route.SessionSnapshot) bool { return s.ID == id }) {
				return nil, nil
			}
		}
	}
	return nil, fmt.Errorf("connection %q: %w", id, control.ErrNotFound)
}

// Reload fails, if it is to.
func (d *Daemon) Reload() error { return d.ReloadError }

// LogLevel is the level.
func (d *Daemon) LogLevel() slog.Level {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.level
}

// SetLogLevel sets it.
func (d *Daemon) SetLogLevel(l slog.Level) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.level = l
}

// Events returns those after since.
func (d *Daemon) Events(since uint64) ([]control.Event, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []control.Event
	for _, e := range d.events {
		if e.Number > since {
			out = append(out, e)
		}
	}
	return out, d.more
}

// ErrReload is a reload that fails.
var ErrReload = errors.Join(control.ErrInvalid, errors.New(`weirline.yaml:12: routes[0].sourcs: unknown key: allowed are name, sources, outputs`))
