package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// spaces are two network namespaces, one for each process of an impaired pair.
// Each hangs on a cable of its own (veth) to the namespace of the lab, where the
// bad network's relay stands: nothing gets past it.
type spaces struct{ id string }

// The addresses are of the range for measurements (RFC 2544), which no network
// routes.
const (
	sendSide, sendRelay = "198.18.77.2", "198.18.77.1"
	recvSide, recvRelay = "198.18.77.6", "198.18.77.5"
)

// newSpaces makes them; that takes root.
func newSpaces() (*spaces, error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("not root")
	}
	s := &spaces{id: fmt.Sprintf("wl%d", os.Getpid())}
	for _, side := range []struct{ role, here, there string }{{"send", sendRelay, sendSide}, {"recv", recvRelay, recvSide}} {
		if err := s.join(side.role, side.here, side.there); err != nil {
			s.end()
			return nil, err
		}
	}
	return s, nil
}

func (s *spaces) name(role string) string { return s.id + role }

// join makes the namespace of one side and its cable. The name of an interface
// has at most 15 letters.
func (s *spaces) join(role, here, there string) error {
	ns, cable := s.name(role), s.id+role[:1]
	for _, line := range []string{
		"netns add " + ns,
		"link add " + cable + " type veth peer name lab0 netns " + ns,
		"addr add " + here + "/30 dev " + cable,
		"link set " + cable + " up",
		"-n " + ns + " addr add " + there + "/30 dev lab0",
		"-n " + ns + " link set lo up",
		"-n " + ns + " link set lab0 up",
		"-n " + ns + " route add default via " + here,
	} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// end removes what newSpaces made, and with the namespaces their cables.
func (s *spaces) end() {
	for _, role := range []string{"send", "recv"} {
		_ = exec.Command("ip", "link", "del", s.id+role[:1]).Run()
		_ = exec.Command("ip", "netns", "del", s.name(role)).Run()
	}
}

// route is where the two sides of a pair and the relay between them listen.
type route struct {
	recv, relay string // addresses
	in          func(role string, argv []string) []string
}

// route is on the loopback unless the profile has a bad network and there are
// namespaces.
func (l *lab) route(x pairs) route {
	if x.p.Lab.Net == nil || l.spaces == nil {
		const lo = "127.0.0.1"
		return route{lo, lo, func(_ string, argv []string) []string { return argv }}
	}
	return route{recvSide, sendRelay, func(role string, argv []string) []string {
		return append([]string{"ip", "netns", "exec", l.spaces.name(role)}, argv...)
	}}
}

// openSpaces makes the namespaces if an item wants them, and says how it went.
func (l *lab) openSpaces(items []item) {
	wanted := false
	for _, it := range items {
		p, ok := it.(pairs)
		wanted = wanted || ok && p.p.Lab.Net != nil
	}
	if !wanted {
		return
	}
	var err error
	if l.noNetns {
		err = errors.New("-no-netns")
	} else {
		l.spaces, err = newSpaces()
	}
	where := "Impaired profiles run in two network namespaces, made and removed by this run; their UDP error counters are not seen."
	if err != nil {
		where = fmt.Sprintf("Impaired profiles run on the loopback: no network namespaces (%v).", err)
	}
	l.result.Method = append(l.result.Method, where)
}
