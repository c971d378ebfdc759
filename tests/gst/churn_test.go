package gst

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
)

type counts struct{ Threads, FDs, RSS int }

type churned struct {
	Before, After counts
	SlowestMS     float64 `json:"slowest_ms"`
}

// churn runs py/churn.py and returns what it counted, and what it said.
func churn(t *testing.T, env []string, kind string, cycles int, limit time.Duration) (c churned, said string) {
	t.Helper()
	needPython(t)
	out := newCollector()
	p := startEnv(t, env, out, python(), "py/churn.py", ours.src, ours.sink, itoa(port.Free(t)), kind, itoa(cycles))
	if err := p.Wait(limit); err != nil {
		t.Fatalf("%s: %v; a hang?\n%s", kind, err, p.Said.String())
	}
	if err := json.Unmarshal(out.bytes(), &c); err != nil {
		t.Fatalf("%q: %v", out.bytes(), err)
	}
	return c, p.Said.String()
}

// TestChurn starts, stops and recreates in one process: no hang, and threads and
// descriptors return to what they were.
func TestChurn(t *testing.T) {
	needGStreamer(t)
	for _, c := range []struct {
		kind        string
		full, quick int
	}{{"startstop", 1000, 100}, {"connecting", 200, 40}, {"recreate", 200, 15}} {
		t.Run(c.kind, func(t *testing.T) {
			n := c.full
			if short() {
				n = c.quick
			}
			got, _ := churn(t, nil, c.kind, n, 4*time.Minute)
			t.Logf("%d cycles: before %+v, after %+v, slowest NULL %.0f ms", n, got.Before, got.After, got.SlowestMS)
			// The Go runtime parks threads it has made; it makes a few more when
			// the machine is busy, but never one a cycle.
			if got.After.Threads > got.Before.Threads+4 || got.After.FDs > got.Before.FDs {
				t.Errorf("before %+v, after %+v", got.Before, got.After)
			}
			if got.SlowestMS > 500 {
				t.Errorf("the slowest NULL took %.0f ms", got.SlowestMS)
			}
			if grown := got.After.RSS - got.Before.RSS; grown > 30<<10 {
				t.Errorf("memory grew by %d KiB", grown)
			}
		})
	}
}

// TestLeaks: GStreamer's own tracer finds no object alive at the end.
func TestLeaks(t *testing.T) {
	long(t)
	needGStreamer(t)
	for _, kind := range []string{"startstop", "connecting", "recreate"} {
		_, said := churn(t, []string{"GST_TRACERS=leaks", "GST_DEBUG=GST_TRACER:7"}, kind, 10, time.Minute)
		if found := leaked(said); len(found) > 0 {
			t.Errorf("%s: alive at the end: %v", kind, found)
		}
	}
}

// leaked picks the records of objects that are alive; others only describe what
// such a record looks like.
func leaked(said string) (out []string) {
	for line := range strings.Lines(said) {
		if strings.Contains(line, "object-alive, type-name=(string)") && !strings.Contains(line, "(string)%s") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}
