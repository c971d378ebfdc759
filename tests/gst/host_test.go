package gst

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/proctest"
)

// host is a GStreamer application in Python, py/host.py, that does what it is
// told and reports what it sees.
type host struct {
	t    *testing.T
	p    *proctest.Process
	mu   sync.Mutex
	rest []byte
	seen []event
	next int
}

// event is a line of the application: an answer, a bus message or a signal.
type event struct {
	Ev, Pipe, Type, Src, Text, Domain, Debug, State string
	Signal, Addr, Failed, Ret                       string
	StreamID                                        *string
	ID, Code, Number, Threads, FDs                  int
	At, MS, Min, Max                                float64
	OK, Live                                        bool
	Value                                           any
	Stats, Structure, Details                       *structure
}

// structure is a GstStructure with the types of its fields in order.
type structure struct {
	Name   string
	Fields map[string]any
	Types  [][2]string
}

// callers returns the connections of a listener's statistics.
func (s *structure) callers(t *testing.T) (out []structure) {
	t.Helper()
	if s == nil || s.Fields["callers"] == nil {
		return nil
	}
	text, err := json.Marshal(s.Fields["callers"])
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// num returns a number of the statistics, -1 if it is not there.
func (s *structure) num(name string) float64 {
	if s == nil {
		return -1
	}
	if f, ok := s.Fields[name].(float64); ok {
		return f
	}
	return -1
}

func startHost(t *testing.T) *host {
	t.Helper()
	needPython(t)
	h := &host{t: t}
	h.p = start(t, h, python(), "py/host.py")
	h.wait("the application does not start", func(e event) bool { return e.Ev == "ready" })
	return h
}

// Write takes what the application prints.
func (h *host) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest = append(h.rest, b...)
	for {
		line, rest, ok := bytes.Cut(h.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		h.rest = rest
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			e = event{Ev: "garbage", Text: string(line) + ": " + err.Error()}
		}
		h.seen = append(h.seen, e)
	}
}

// events returns what was seen so far and passes.
func (h *host) events(ok func(event) bool) []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.seen), func(e event) bool { return !ok(e) })
}

func (h *host) count(ok func(event) bool) int { return len(h.events(ok)) }

// wait waits for the first event that passes.
func (h *host) wait(complaint string, ok func(event) bool) event {
	h.t.Helper()
	return h.waitN(complaint, 1, ok)
}

// waitN waits for the nth event that passes.
func (h *host) waitN(complaint string, n int, ok func(event) bool) event {
	h.t.Helper()
	for end := time.Now().Add(proctest.Patience); ; time.Sleep(5 * time.Millisecond) {
		if found := h.events(ok); len(found) >= n {
			return found[n-1]
		}
		if !h.p.Running() || time.Now().After(end) {
			h.t.Fatalf("%s; seen: %s", complaint, h.story())
		}
	}
}

// story tells the last events for a complaint.
func (h *host) story() string {
	all := h.events(func(e event) bool { return e.Ev != "answer" })
	var b strings.Builder
	for _, e := range all[max(0, len(all)-20):] {
		fmt.Fprintf(&b, "\n  %.0f ms %s %s%s %s %s code %d debug %q details %v", e.At, e.Pipe, e.Type, e.Signal, e.Addr+e.State, e.Text, e.Code, e.Debug, e.Details)
	}
	return b.String()
}

type args map[string]any

// tell sends a command without waiting and returns its number.
func (h *host) tell(do, pipe string, a args) int {
	h.t.Helper()
	h.mu.Lock()
	h.next++
	id := h.next
	h.mu.Unlock()
	c := args{"do": do, "pipe": pipe, "id": id}
	for k, v := range a {
		c[k] = v
	}
	text, err := json.Marshal(c)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.p.In.Write(append(text, '\n')); err != nil {
		h.t.Fatalf("the application is gone (%v) at %s %s: %v\n%s", h.p.Cmd.ProcessState, do, pipe, err, h.p.Said.String())
	}
	return id
}

func (h *host) answer(id int, what string) event {
	h.t.Helper()
	return h.wait("no answer to "+what, func(e event) bool { return e.Ev == "answer" && e.ID == id })
}

// do sends a command and returns its answer.
func (h *host) do(do, pipe string, a args) event {
	h.t.Helper()
	return h.answer(h.tell(do, pipe, a), do+" "+pipe)
}

// play makes a pipeline and starts it.
func (h *host) play(pipe, line string) event {
	h.t.Helper()
	h.launch(pipe, line)
	return h.state(pipe, "PLAYING")
}

func (h *host) launch(pipe, line string) {
	h.t.Helper()
	if a := h.do("launch", pipe, args{"line": line}); a.Failed != "" {
		h.t.Fatalf("%s: %s", line, a.Failed)
	}
}

func (h *host) state(pipe, to string) event {
	h.t.Helper()
	return h.do("state", pipe, args{"to": to})
}

func (h *host) stats(pipe string) *structure {
	h.t.Helper()
	a := h.do("stats", pipe, nil)
	if a.Stats == nil {
		h.t.Fatalf("no statistics: %s", a.Failed)
	}
	return a.Stats
}

func (h *host) get(pipe, prop string) any {
	h.t.Helper()
	a := h.do("get", pipe, args{"prop": prop})
	if a.Failed != "" {
		h.t.Errorf("%s: %s", prop, a.Failed)
	}
	return a.Value
}

// signal and message make conditions on events.
func signal(pipe, name string) func(event) bool {
	return func(e event) bool { return e.Ev == "signal" && e.Pipe == pipe && e.Signal == name }
}

func busMessage(pipe, kind string) func(event) bool {
	return func(e event) bool { return e.Ev == "message" && e.Pipe == pipe && e.Type == kind }
}

func reached(pipe, state string) func(event) bool {
	return func(e event) bool { return busMessage(pipe, "state-changed")(e) && e.State == state }
}
