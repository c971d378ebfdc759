package srtcore_test

import (
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// streamIDs are the lengths and contents that have gone wrong in the field.
func streamIDs() []string {
	ids := []string{"größe/日本", "a b=c,d&e%f", "#!::r=live/a,m=publish", "\x01\xff"}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 255, 256, 300, 511, 512} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + i%75)
		}
		ids = append(ids, string(b))
	}
	return ids
}

// C03: the listener sees the caller's very bytes, in the request and in the
// connection.
func TestC03StreamIDArrives(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	asked := make(chan string, 1)
	l := r.listen("127.0.0.1:0", func(c *srtcore.Config) {
		c.OnRequest = func(q *srtcore.ConnRequest) error { asked <- q.StreamID; return nil }
	})
	for _, id := range streamIDs() {
		c := r.dial(l.Addr().String(), func(c *srtcore.Config) { c.StreamID = id })
		if got := <-asked; got != id {
			t.Errorf("%d bytes: the request has %q, want %q", len(id), got, id)
		}
		if got := r.accept(l).StreamID(); got != id {
			t.Errorf("%d bytes: the accepted connection has %q, want %q", len(id), got, id)
		}
		if got := c.StreamID(); got != id {
			t.Errorf("%d bytes: the caller's own is %q, want %q", len(id), got, id)
		}
	}
}

// C03: 513 bytes are refused before anything is sent. The first datagram to
// reach the called port is the test's own.
func TestC03LongStreamIDSendsNothing(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	called := loopback(t)
	_, err := r.tryDial(called.LocalAddr().String(), func(c *srtcore.Config) { c.StreamID = strings.Repeat("x", 513) })
	oe, ok := errors.AsType[*srtcore.OptionError](err)
	if !ok || oe.Option != "streamid" || !strings.Contains(err.Error(), "512") {
		t.Errorf("Dial = %v, want an OptionError that names streamid and the limit", err)
	}
	if _, err := loopback(t).WriteToUDP([]byte("mine"), called.LocalAddr().(*net.UDPAddr)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2048)
	if n, err := called.Read(b); err != nil || string(b[:n]) != "mine" {
		t.Errorf("a packet was sent: % x, %v", b[:n], err)
	}
}

// C03: a crafted caller is not held back by a setter: the listener refuses 513
// bytes with a code, takes 512, and never cuts at a zero byte.
func TestC03CraftedStreamID(t *testing.T) {
	r := newRig(t, srtcore.RuntimeConfig{})
	l := r.listen("127.0.0.1:0")
	for _, tc := range []struct {
		id    string
		taken bool
	}{
		{strings.Repeat("x", 513), false}, {strings.Repeat("x", 600), false},
		{strings.Repeat("x", 512), true}, {"a\x00b", true}, {"abc", true},
	} {
		answer := callWithStreamID(t, l.Addr(), tc.id)
		if tc.taken != (answer.Type == wire.HSConclusion) || tc.taken == answer.Type.IsReject() {
			t.Errorf("%d bytes: answered %v", len(tc.id), answer.Type)
		}
		if !tc.taken {
			continue
		}
		if got := r.accept(l).StreamID(); got != tc.id {
			t.Errorf("%q became %q", tc.id, got)
		}
	}
	r.dial(l.Addr().String())
	r.accept(l)
}

// callWithStreamID makes a caller's two steps by hand (draft section 4.3.1) and
// returns the answer to the second.
func callWithStreamID(t *testing.T, to net.Addr, id string) wire.Handshake {
	t.Helper()
	c := loopback(t)
	h := wire.Handshake{Version: 4, ExtField: 2, InitSeq: seq.Number(1000), MSS: 1500, FlowWindow: 8192, Type: wire.HSInduction, SocketID: 77}
	first := exchange(t, c, to, h)
	h.Version, h.ExtField, h.Type, h.Cookie = 5, wire.ExtFieldHSReq|wire.ExtFieldConfig, wire.HSConclusion, first.Cookie
	ext := wire.HSExt{Version: 0x010500, Flags: wire.FlagTSBPDSnd | wire.FlagTSBPDRcv | wire.FlagCrypt | wire.FlagTLPktDrop | wire.FlagPeriodicNAK | wire.FlagRexmit}
	h.Exts = wire.AppendString(ext.Append(nil, wire.ExtHSReq), wire.ExtSID, id)
	return exchange(t, c, to, h)
}

func exchange(t *testing.T, c *net.UDPConn, to net.Addr, h wire.Handshake) wire.Handshake {
	t.Helper()
	b := make([]byte, wire.HeaderSize, 2048)
	wire.ControlHeader{Type: wire.CtrlHandshake}.Put(b)
	if _, err := c.WriteTo(h.Append(b), to); err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	n, err := c.Read(b[:cap(b)])
	if err != nil {
		t.Fatal(err)
	}
	_, content, err := wire.ParseControl(b[:n])
	if err != nil {
		t.Fatal(err)
	}
	answer, err := wire.ParseHandshake(content)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// C24: every packet of a wildcard listener leaves from the address that was
// called, in a whole session with a loss.
func TestC24AnswersFromCalledAddress(t *testing.T) {
	needIPv6(t)
	for _, tc := range []struct{ listen, call string }{
		{"0.0.0.0:0", "127.0.0.2"},
		{"0.0.0.0:0", "127.0.0.3"},
		{"[::]:0", "127.0.0.2"}, // comes in as ::ffff:127.0.0.2
		{"[::]:0", "::1"},
		{":0", "127.0.0.3"},
	} {
		t.Run(tc.listen+" "+tc.call, func(t *testing.T) {
			onRuntimes(t, func(t *testing.T, r *rig) {
				if r.portable {
					return // the portable socket does not know the called address
				}
				answersFrom(r, tc.listen, tc.call)
			})
		})
	}
}

func answersFrom(r *rig, listen, call string) {
	r.cfg.RcvLatency = 500 * time.Millisecond // the lost one is in time on a busy machine too
	l := r.listen(listen)
	called := &net.UDPAddr{IP: net.ParseIP(call), Port: l.Addr().(*net.UDPAddr).Port}
	p := newProbe(r.t, called)
	c := r.dial(p.front.LocalAddr().String())
	s := r.accept(l)
	if got := s.LocalAddr().String(); got != called.String() {
		r.t.Errorf("LocalAddr = %s, want %s", got, called)
	}
	r.mustWrite(c, 1, 100) // one is lost on its way: NAK
	r.mustRead(s, 1, 100)
	r.mustWrite(s, 2, 100)
	r.mustRead(c, 2, 100)
	_ = s.Close()
	<-c.Done()
	p.want(called.String(), "handshake", "data", "ack", "nak", "ackack", "shutdown")
}

// probe is a relay that notes where each kind of answer comes from. It sends
// from a socket that is not connected, for a connected one would hide a stray.
type probe struct {
	t           *testing.T
	front, back *net.UDPConn
	dst         *net.UDPAddr

	mu      sync.Mutex
	caller  *net.UDPAddr
	data    int // packets from the caller
	sources map[string][]string
}

func newProbe(t *testing.T, dst *net.UDPAddr) *probe {
	t.Helper()
	network, wildcard := "udp4", net.IPv4zero
	if dst.IP.To4() == nil {
		network, wildcard = "udp6", net.IPv6zero
	}
	back, err := net.ListenUDP(network, &net.UDPAddr{IP: wildcard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = back.Close() })
	p := &probe{t: t, front: loopback(t), back: back, dst: dst, sources: map[string][]string{}}
	go p.up()
	go p.down()
	return p
}

// up passes on what the caller sends, but for the tenth data packet.
func (p *probe) up() {
	b := make([]byte, 2048)
	for {
		n, from, err := p.front.ReadFromUDP(b)
		if err != nil {
			return
		}
		p.mu.Lock()
		p.caller = from
		if !wire.IsControl(b[:n]) {
			p.data++
		}
		lost := p.data == 10 && !wire.IsControl(b[:n])
		p.mu.Unlock()
		if !lost {
			_, _ = p.back.WriteToUDP(b[:n], p.dst)
		}
	}
}

func (p *probe) down() {
	b := make([]byte, 2048)
	for {
		n, from, err := p.back.ReadFromUDP(b)
		if err != nil {
			return
		}
		kind := "data"
		if h, _, err := wire.ParseControl(b[:n]); err == nil {
			kind = strings.ToLower(h.Type.String())
		}
		p.mu.Lock()
		if at := from.String(); !slices.Contains(p.sources[kind], at) {
			p.sources[kind] = append(p.sources[kind], at)
		}
		caller := p.caller
		p.mu.Unlock()
		_, _ = p.front.WriteToUDP(b[:n], caller)
	}
}

// want wants all kinds seen, and each from one address only.
func (p *probe) want(source string, kinds ...string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, kind := range kinds {
		if len(p.sources[kind]) == 0 {
			p.t.Errorf("no %s was seen, only %v", kind, p.sources)
		}
	}
	for kind, from := range p.sources {
		if len(from) != 1 || from[0] != source {
			p.t.Errorf("%s came from %v, want %s", kind, from, source)
		}
	}
}
