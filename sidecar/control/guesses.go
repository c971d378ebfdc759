package control

import (
	"crypto/sha256"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// guessBurst wrong tokens of an address are looked at, and then one every
	// guessEvery.
	guessBurst = 10
	guessEvery = 2 * time.Second
	// guessMemory wrong tokens are remembered: a program that was set up wrong
	// repeats one and the same, which is no guessing and must not lock out the
	// others on its machine.
	guessMemory = 4
	// maxGuessers bounds the addresses that are told apart.
	maxGuessers = 4096
)

// guesses bounds how fast anybody can try tokens. While an address waits, its
// tokens are not looked at, not even the right one: an answer that tells right
// from wrong is what a guesser is after.
type guesses struct {
	mu   sync.Mutex
	by   map[netip.Prefix]*guesser
	rest guesser // of all there was no room for
}

// guesser is an address that has sent a wrong token.
type guesser struct {
	spent float64 // of guessBurst
	at    time.Time
	wrong [][sha256.Size]byte // the last ones, hashed
}

// verdict is what comes of a token.
type verdict struct {
	right bool
	wait  time.Duration // positive: it was not looked at
	again bool          // a wrong one that came before
}

// judge looks at a token.
func (g *guesses) judge(from netip.Prefix, guess string, now time.Time, isToken func(string) bool) verdict {
	sum := sha256.Sum256([]byte(guess))
	g.mu.Lock()
	defer g.mu.Unlock()
	if who := g.find(from); who != nil {
		who.forgive(now)
		if slices.Contains(who.wrong, sum) {
			return verdict{again: true}
		}
		if left := who.spent - (guessBurst - 1); left > 0 {
			return verdict{wait: time.Duration(left * float64(guessEvery))}
		}
	}
	if isToken(guess) {
		return verdict{right: true}
	}
	g.place(from, now).note(sum)
	return verdict{}
}

// find returns what is known of an address; nil: nothing.
func (g *guesses) find(from netip.Prefix) *guesser {
	if who := g.by[from]; who != nil || len(g.by) < maxGuessers {
		return who
	}
	return &g.rest
}

// place finds or makes room for an address. Whoever has waited long enough is
// forgotten for it.
func (g *guesses) place(from netip.Prefix, now time.Time) *guesser {
	if g.by == nil {
		g.by = map[netip.Prefix]*guesser{}
	}
	if len(g.by) >= maxGuessers && g.by[from] == nil {
		for a, who := range g.by {
			if who.forgive(now); who.spent == 0 {
				delete(g.by, a)
			}
		}
	}
	who := g.find(from)
	if who == nil {
		who = &guesser{}
		g.by[from] = who
	}
	who.forgive(now)
	return who
}

func (g *guesser) forgive(now time.Time) {
	if d := now.Sub(g.at); d > 0 {
		g.spent = max(0, g.spent-float64(d)/float64(guessEvery))
		g.at = now
	}
}

func (g *guesser) note(sum [sha256.Size]byte) {
	g.spent++
	if g.wrong = append(g.wrong, sum); len(g.wrong) > guessMemory {
		g.wrong = g.wrong[1:]
	}
}

// guesserOf is whom a request's tokens are counted for: its address, or of IPv6
// the network, which one machine has for itself; all of a unix socket are one.
func guesserOf(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	a := at.Addr().Unmap().WithZone("")
	bits := a.BitLen()
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// judge looks at a request's token. answered: the token was not looked at, and
// the client has been told so.
func (s *Server) judge(w http.ResponseWriter, r *http.Request, guess string) (right, answered bool) {
	v := s.guesses.judge(guesserOf(r), guess, time.Now(), s.isToken)
	if v.wait > 0 {
		seconds := strconv.Itoa(int(math.Ceil(v.wait.Seconds())))
		w.Header().Set("Retry-After", seconds)
		problem(w, http.StatusTooManyRequests, "Too many wrong tokens came from this address: none is looked at for the next "+seconds+" s. A page that is logged in is not affected.")
		return false, true
	}
	if !v.right && !v.again {
		s.log.Warn("control: wrong token", "remote", r.RemoteAddr)
	}
	return v.right, false
}
