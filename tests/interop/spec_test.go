package interop

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

const passphrase = "correct horse battery"

// spec is what one end of a connection is told.
type spec struct {
	host    string // 127.0.0.1 or ::1
	port    int
	listen  bool
	keyLen  int // 0: not encrypted
	latency time.Duration
	pass    string // instead of the usual passphrase
	more    string // further options, each with its &
	cut     int    // bytes of a message, where a program has to be told; 0: the usual
}

func (s spec) addr() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// url writes the spec as a URL; unit is what the program counts latency in, esc
// how it wants the passphrase written.
func (s spec) url(unit time.Duration, esc func(string) string) string {
	mode := "caller"
	if s.listen {
		mode = "listener"
	}
	u := fmt.Sprintf("srt://%s?mode=%s&latency=%d", s.addr(), mode, s.latency/unit)
	if s.keyLen > 0 {
		u += fmt.Sprintf("&passphrase=%s&pbkeylen=%d", esc(cmp.Or(s.pass, passphrase)), s.keyLen)
	}
	return u + s.more
}

// chunk is the size of a message as an argument.
func (s spec) chunk() string { return strconv.Itoa(cmp.Or(s.cut, message)) }

func verbatim(s string) string { return s }

func percent(s string) string { return strings.ReplaceAll(s, " ", "%20") }
