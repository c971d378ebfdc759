package main

import (
	"testing"
	"time"
)

// looks plays n looks at a process that uses share of a processor.
func (p *procs) looks(n int, share float64) {
	const every = 64 * time.Millisecond
	for range n {
		p.look(p.used+time.Duration(share*float64(every)), p.at+every, true)
	}
}

func TestProcs(t *testing.T) {
	sets := 0
	p := &procs{set: func(bool) { sets++ }}
	want := func(what string, one bool, n int) {
		t.Helper()
		if p.one != one || sets != n {
			t.Errorf("%s: on one processor %v after %d changes, want %v after %d", what, p.one, sets, one, n)
		}
	}
	p.looks(calmLooks, 0.1)
	want("the first look tells nothing", false, 0)
	p.looks(1, 0.1)
	want("calm", true, 1)
	p.looks(100, 0.4)
	want("a little more", true, 1)
	p.looks(1, 0.6)
	want("busy", false, 2)
	p.looks(100, 0.4)
	want("not calm enough", false, 2)
	p.looks(calmLooks, 0.1)
	want("calm again", true, 3)
	p.look(p.used, p.at+1, false)
	want("no tick", false, 4)
	p.look(p.used, p.at+1, false)
	want("still none", false, 4)
}
