package props

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// Config is what an element works with: a Settings at one moment.
type Config struct {
	// Mode is ModeCaller or ModeListener; Addr is where it calls or listens.
	Mode int
	Addr string
	// SRT has neither OnRequest nor Runtime set.
	SRT     srtcore.Config
	Latency time.Duration // the property

	WaitForConnection, AutoReconnect, KeepListening bool
	Authentication, DrainOnEOS                      bool
	CallerPolicy, SlowCaller                        int
	MaxCallers, CallerBacklog                       int
}

// Snapshot checks everything together. Its error names the option, the value and
// what would be allowed; never the passphrase.
func (s *Settings) Snapshot() (Config, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	flag := func(name string) bool { return s.number(name) != 0 }
	c := Config{
		Mode:              int(s.number(ConnectionMode)),
		Latency:           time.Duration(s.number(Latency)) * time.Millisecond,
		WaitForConnection: flag(WaitForConnection), AutoReconnect: flag(AutoReconnect),
		KeepListening: flag(KeepListening), Authentication: flag(Authentication), DrainOnEOS: flag(DrainOnEOS),
		CallerPolicy: int(s.number(CallerPolicy)), SlowCaller: int(s.number(SlowCaller)),
		MaxCallers: int(s.number(MaxCallers)), CallerBacklog: int(s.number(CallerBacklog)),
	}
	t, err := readCore(s.coreOptions())
	if err != nil {
		return c, err
	}
	c.SRT = t.Config
	if _, given := s.coreOption(PlayGrid); !given && s.side == Source {
		c.SRT.PlayGrid = min(c.SRT.RcvLatency/latencyGrids, mostPlayGrid)
	}
	return c, s.address(&c)
}

func (s *Settings) number(name string) int64 { return s.effective(ByName(name)).num }

// coreOptions are the URI's options with the properties in their places.
func (s *Settings) coreOptions() []coreOption {
	out := []coreOption{{Latency, strconv.FormatInt(s.number(Latency), 10)}}
	for _, name := range []string{StreamID, Passphrase} {
		if v := s.effective(ByName(name)); v.text != "" {
			out = append(out, coreOption{name, v.text})
		}
	}
	if n := s.number(PBKeyLen); n != 0 {
		out = append(out, coreOption{PBKeyLen, strconv.FormatInt(n, 10)})
	}
	for _, o := range s.uri.core {
		if p := ByKey(o.key); p == nil || !p.Property {
			out = append(out, o)
		}
	}
	return out
}

// A source's default is a sixth of the latency, at most 20 ms. A buffer carries its
// time, so coming early costs those who go by it nothing, and a streaming thread is
// woken once for many.
const mostPlayGrid, latencyGrids = 20 * time.Millisecond, 6

func (s *Settings) coreOption(key string) (text string, given bool) {
	for _, o := range s.uri.core {
		if o.key == key {
			text, given = o.text, true
		}
	}
	return text, given
}

// readCore gives options to srtcore; of those given twice the last counts.
func readCore(options []coreOption) (*srtcore.Target, error) {
	last := map[string]int{}
	for i, o := range options {
		last[o.key] = i
	}
	var b strings.Builder
	b.WriteString("srt://127.0.0.1:1?mode=caller")
	for i, o := range options {
		if last[o.key] == i {
			b.WriteString("&" + escape(o.key) + "=" + escape(o.text))
		}
	}
	return srtcore.ParseURL(b.String())
}

// address settles where to call or to listen.
func (s *Settings) address(c *Config) error {
	host := s.effective(ByName(LocalAddress)).text
	port := strconv.FormatInt(s.number(LocalPort), 10)
	switch c.Mode {
	case ModeListener:
		c.Addr = net.JoinHostPort(bare(host), port)
		return nil
	case ModeCaller:
	case ModeRendezvous:
		return fmt.Errorf("mode = rendezvous is not served yet: set mode to caller on one side and listener on the other")
	default:
		return fmt.Errorf("mode = none cannot be opened: set mode to caller or listener")
	}
	if s.uri.host == "" {
		return fmt.Errorf("uri = %q has no address to call: give srt://address:port, or mode=listener", s.uri.raw)
	}
	if s.uri.portNumber() == 0 {
		return fmt.Errorf("uri = %q has no port to call: give srt://address:port", s.uri.raw)
	}
	c.Addr = net.JoinHostPort(s.uri.host, strconv.FormatInt(s.uri.portNumber(), 10))
	if !s.given(LocalPort) {
		port = "0"
	}
	if host != "" || port != "0" {
		c.SRT.LocalAddr = net.JoinHostPort(bare(host), port)
	}
	return nil
}

// given says whether a property has a value that is not its default.
func (s *Settings) given(name string) bool {
	_, explicit := s.explicit[name]
	_, uri := s.uri.values[name]
	return explicit || uri
}

// bare takes the brackets from an IPv6 address.
func bare(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}
