package probe

import (
	"encoding/binary"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
)

// skew is a relay behind which a caller's clock runs fast by ppm: it changes the
// time stamps of what the caller sends.
type skew struct {
	front *net.UDPConn
	ppm   float64
	begin time.Time
}

func newSkew(t *testing.T, target string, ppm float64) *skew {
	t.Helper()
	to, err := net.ResolveUDPAddr("udp", target)
	if err != nil {
		t.Fatal(err)
	}
	front, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	back, err := net.DialUDP("udp", nil, to)
	if err != nil {
		t.Fatal(err)
	}
	s := &skew{front: front, ppm: ppm, begin: time.Now()}
	caller := make(chan *net.UDPAddr, 1)
	ended := make(chan struct{}, 2)
	go func() { s.up(back, caller); ended <- struct{}{} }()
	go func() { s.down(back, caller); ended <- struct{}{} }()
	t.Cleanup(func() {
		front.Close()
		back.Close()
		<-ended
		<-ended
	})
	return s
}

func (s *skew) up(back *net.UDPConn, caller chan<- *net.UDPAddr) {
	defer close(caller)
	known := false
	buf := make([]byte, 2048)
	for {
		n, from, err := s.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if !known {
			caller <- from
			known = true
		}
		stamp := buf[8:12]
		fast := time.Since(s.begin).Seconds() * s.ppm
		binary.BigEndian.PutUint32(stamp, binary.BigEndian.Uint32(stamp)+uint32(int64(fast)))
		if _, err := back.Write(buf[:n]); err != nil && strings.Contains(err.Error(), "closed") {
			return
		}
	}
}

func (s *skew) down(back *net.UDPConn, caller <-chan *net.UDPAddr) {
	to, ok := <-caller
	buf := make([]byte, 2048)
	for ok {
		n, err := back.Read(buf)
		if err != nil {
			return
		}
		if _, err := s.front.WriteToUDP(buf[:n], to); err != nil {
			return
		}
	}
}

// A caller whose clock runs 300 ppm fast, as the other end sees it.
func TestProbeSeesThatAClockIsFast(t *testing.T) {
	t.Parallel()
	f := newFar(t, impair.Path{}, impair.Path{})
	s := newSkew(t, f.relay.Addr(), 300)
	o := f.options()
	o.URL, o.Secs, o.Rate = "srt://"+s.front.LocalAddr().String(), 7, 500_000
	_, farther := f.run(o)
	if r := farther; math.Abs(r.Drift-300) > max(4*r.DriftError, 30) || r.DriftError > 60 {
		t.Fatalf("%.1f ppm +- %.1f, want 300", r.Drift, r.DriftError)
	}
	if text := strings.Join(farther.Advice.Texts, "\n"); !strings.Contains(text, "ppm fast") {
		t.Errorf("the clock is not spoken of: %s", text)
	}
}
