package control

import (
	"fmt"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"
)

// trial is a guesses with a clock of its own.
type trial struct {
	guesses
	now time.Time
}

func (tr *trial) guess(from, token string) (right bool, wait time.Duration) {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = from
	v := tr.judge(guesserOf(r), token, tr.now, func(g string) bool { return g == "right" })
	return v.right, v.wait
}

// exhaust sends wrong tokens until none is looked at.
func (tr *trial) exhaust(t *testing.T, from string) {
	t.Helper()
	for i := range guessBurst {
		if right, wait := tr.guess(from, fmt.Sprint("wrong", i)); right || wait != 0 {
			t.Fatalf("guess %d of %s: %v, %v", i, from, right, wait)
		}
	}
}

func TestGuessesAreSlow(t *testing.T) {
	tr := &trial{now: time.Unix(1000, 0)}
	const a, b = "192.0.2.1:1000", "192.0.2.2:1000"
	tr.exhaust(t, a)
	for _, token := range []string{"another", "right"} {
		if right, wait := tr.guess(a, token); right || wait <= 0 || wait > guessEvery {
			t.Errorf("%s after %d wrong ones: %v, wait %v", token, guessBurst, right, wait)
		}
	}
	if right, wait := tr.guess(b, "right"); !right || wait != 0 {
		t.Errorf("another address: %v, %v", right, wait)
	}
	looked := 0
	for i := range 600 { // a minute, ten a second
		tr.now = tr.now.Add(100 * time.Millisecond)
		if _, wait := tr.guess(a, fmt.Sprint("more", i)); wait == 0 {
			looked++
		}
	}
	if most := int(time.Minute / guessEvery); looked > most || looked < most-1 {
		t.Errorf("%d guesses in a minute, want %d", looked, most)
	}
	tr.now = tr.now.Add(guessEvery)
	if right, wait := tr.guess(a, "right"); !right || wait != 0 {
		t.Errorf("after the wait: %v, %v", right, wait)
	}
}

// A program that repeats its wrong token locks nobody out.
func TestRepeatingIsNoGuessing(t *testing.T) {
	tr := &trial{now: time.Unix(1000, 0)}
	for range 100 * guessBurst {
		if right, wait := tr.guess("127.0.0.1:5", "old token"); right || wait != 0 {
			t.Fatalf("%v, %v", right, wait)
		}
	}
	if right, wait := tr.guess("127.0.0.1:6", "right"); !right || wait != 0 {
		t.Errorf("beside it: %v, %v", right, wait)
	}
}

func TestWhoIsWho(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:1:ffff::2]:1", true},
		{"[2001:db8:0:1::1]:1", "[2001:db8:0:2::1]:1", false},
		{"@", "", true},
	} {
		ra, rb := httptest.NewRequest("GET", "/", nil), httptest.NewRequest("GET", "/", nil)
		ra.RemoteAddr, rb.RemoteAddr = c.a, c.b
		if same := guesserOf(ra) == guesserOf(rb); same != c.same {
			t.Errorf("%s and %s: the same %v", c.a, c.b, same)
		}
	}
}

// However many addresses there are, the memory is bounded, those beyond share,
// and room comes back.
func TestGuessersAreBounded(t *testing.T) {
	tr := &trial{now: time.Unix(1000, 0)}
	for i := range maxGuessers {
		tr.guess(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), 1).String(), "wrong")
	}
	for i := range guessBurst {
		tr.guess(fmt.Sprintf("10.2.0.%d:1", i), fmt.Sprint("wrong", i))
	}
	if _, wait := tr.guess("10.2.9.9:1", "wrong too"); wait == 0 {
		t.Error("addresses beyond the bound are not bounded together")
	}
	if n := len(tr.by); n != maxGuessers {
		t.Errorf("%d addresses are remembered, want %d", n, maxGuessers)
	}
	tr.now = tr.now.Add(time.Hour)
	tr.guess("10.3.0.1:1", "wrong")
	if n := len(tr.by); n != 1 {
		t.Errorf("%d addresses are remembered after an hour, want 1", n)
	}
}
