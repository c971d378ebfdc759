package access_test

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/access"
	"github.com/weirline/weirline/sidecar/config"
)

type about interface {
	Peer() string
	StreamID() string
	User() string
}

// A stream id leads to its stream, in the right direction, or nowhere.
func TestStreamIDs(t *testing.T) {
	r := newRig(t, config.Listener{})
	in, both := r.publish("in", ""), r.publish("both", "")
	out, bothOut := r.play("out", ""), r.play("both", "")
	r.publish("odd:id?x=y", "")
	for _, id := range []string{"#!::r=in,m=publish", "in", "publish:in", "#!::h=host,r=in,m=publish,t=stream,token=x"} {
		c := r.mustCall(id, "")
		s := r.openSource(in)
		if a := s.(about); a.Peer() == "" || a.User() != "" {
			t.Errorf("%s: peer %q, user %q", id, a.Peer(), a.User())
		}
		_ = c.Abort()
		s.Close()
	}
	for _, id := range []string{"#!::r=out,m=request", "#!::r=out", "out", "read:out"} {
		c := r.mustCall(id, "")
		if got := r.openSink(out).(about).StreamID(); got != id {
			t.Errorf("stream id %q, want %q", got, id)
		}
		_ = c.Abort()
	}
	r.mustCall("both", "")
	r.openSink(bothOut)
	r.mustCall("publish:both", "")
	r.openSource(both)
	r.mustCall("odd:id?x=y", "")

	for id, want := range map[string]struct {
		code   srtcore.RejectReason
		reason string
	}{
		"":                          {srtcore.RejBadRequest, "stream-id"},
		"#!::":                      {srtcore.RejBadRequest, "stream-id"},
		"#!::m=publish":             {srtcore.RejBadRequest, "stream-id"},
		"%23!::r=in,m=publish":      {srtcore.RejBadRequest, "stream-id"},
		"#!:{r=in}":                 {srtcore.RejBadRequest, "stream-id"},
		"#!::r=in,r=out":            {srtcore.RejBadRequest, "stream-id"},
		"none":                      {srtcore.RejNotFound, "stream"},
		"#!::r=none,m=publish":      {srtcore.RejNotFound, "stream"},
		"read:none":                 {srtcore.RejNotFound, "stream"},
		"IN":                        {srtcore.RejNotFound, "stream"},
		"#!::r=in":                  {srtcore.RejBadMode, "mode"},
		"read:in":                   {srtcore.RejBadMode, "mode"},
		"#!::r=out,m=publish":       {srtcore.RejBadMode, "mode"},
		"#!::r=in,m=bidirectional":  {srtcore.RejBadMode, "mode"},
		"#!::r=in,m=publish,t=file": {srtcore.RejBadMode, "mode"},
	} {
		r.wantRefused(id, "", want.code, want.reason)
	}
}

// What may be a token in a stream id is shown to nobody.
func TestStreamIDsHideTokens(t *testing.T) {
	r := newRig(t, config.Listener{})
	in := r.publish("in", "")
	r.mustCall("#!::r=in,m=publish,token=hunter2secret", "")
	if got := r.openSource(in).(about).StreamID(); got != "#!::r=in,m=publish,token=(hidden)" {
		t.Errorf("stream id %q", got)
	}
	r.wantRefused("publish:live:user:hunter2secret", "", srtcore.RejNotFound, "stream")
	r.wantRefused("live?pass=hunter2secret", "", srtcore.RejNotFound, "stream")
	r.wantRefused("#!::r=x,r=hunter2secret", "", srtcore.RejBadRequest, "stream-id")
	if text := r.log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "stream=live... mode=publish") {
		t.Errorf("log: %s", text)
	}
}

// The last packets at close arrive: all that was sent before the publisher left.
func TestTailOfPublisher(t *testing.T) {
	r := newRig(t, config.Listener{Address: "srt://127.0.0.1:0?latency=120"})
	in := r.publish("in", "")
	c := r.mustCall("#!::r=in,m=publish", "")
	for i := range 300 {
		if _, err := c.Write(message(i)); err != nil {
			t.Fatal(err)
		}
	}
	go c.Close()
	got, err := readAll(r.openSource(in)) // may open after the publisher has left
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, got, 0, 300)
}

func TestPassphrasePrecedence(t *testing.T) {
	const own, ofRef, ofListener, inURL = "the user's own", "the stream's own", "the listener's", "the address's"
	users := []config.User{
		{Name: "ann", Passphrase: own, Play: []string{"*"}},
		{Name: "bob", Play: []string{"*"}},
	}
	for _, c := range []struct {
		name                   string
		listener, url, ref, id string
		want                   string
	}{
		{"user before stream", ofListener, "", ofRef, "#!::r=s,u=ann", own},
		{"stream before listener", ofListener, "", ofRef, "#!::r=s,u=bob", ofRef},
		{"listener", ofListener, "", "", "#!::r=s,u=bob", ofListener},
		{"address", "", "&passphrase=" + strings.ReplaceAll(inURL, " ", "%20"), "", "#!::r=s,u=bob", inURL},
		{"none", "", "", "", "#!::r=s,u=bob", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, config.Listener{
				Address: "srt://127.0.0.1:0?latency=20" + c.url, Passphrase: config.Secret(c.listener), Users: users,
			})
			out := r.play("s", c.ref)
			for _, p := range []string{own, ofRef, ofListener, inURL, ""} {
				switch {
				case p == c.want:
					r.mustCall(c.id, p)
					r.openSink(out)
				case p == "" || c.want == "":
					r.wantRefused(c.id, p, srtcore.RejUnsecure, "passphrase")
				default:
					r.wantRefused(c.id, p, srtcore.RejBadSecret, "passphrase")
				}
			}
			for _, p := range []string{own, ofRef, ofListener, inURL} {
				if strings.Contains(r.log.String(), p) {
					t.Errorf("the log has %q: %s", p, r.log)
				}
			}
			r.soon("refused callers to be forgotten", func() bool { return r.port.Snapshot().Connections == 1 })
		})
	}
}

func TestUsers(t *testing.T) {
	r := newRig(t, config.Listener{Users: []config.User{
		{Name: "cam", Publish: []string{"live/*"}},
		{Name: "tv", Play: []string{"*/main", "live/a*z"}},
	}})
	in, out := r.publish("live/main", ""), r.play("live/main", "")
	r.publish("other", "")
	r.mustCall("#!::r=live/main,m=publish,u=cam", "")
	if got := r.openSource(in).(about).User(); got != "cam" {
		t.Errorf("user %q", got)
	}
	r.mustCall("#!::r=live/main,u=tv", "")
	r.openSink(out)
	r.wantRefused("#!::r=live/main,m=publish,u=tv", "", srtcore.RejForbidden, "permission")
	r.wantRefused("#!::r=live/main,u=cam", "", srtcore.RejForbidden, "permission")
	r.wantRefused("#!::r=other,m=publish,u=cam", "", srtcore.RejForbidden, "permission")
	r.wantRefused("#!::r=none,u=nobody", "", srtcore.RejUnauthorized, "user")
	r.wantRefused("#!::r=live/main", "", srtcore.RejUnauthorized, "user")
	r.wantRefused("live/main", "", srtcore.RejUnauthorized, "user")
}

func TestLimits(t *testing.T) {
	r := newRig(t, config.Listener{MaxConnections: 3, MaxPerAddress: 2})
	r.play("s", "")
	r.mustCall("s", "")
	c := r.mustCall("s", "")
	r.wantRefused("s", "", srtcore.RejOverload, "limit")
	if _, err := r.callFrom("127.0.0.2:0", "s", ""); err != nil {
		t.Fatalf("from another address: %v", err)
	}
	if _, err := r.callFrom("127.0.0.3:0", "s", ""); !errors.Is(err, &srtcore.RejectError{Reason: srtcore.RejOverload}) {
		t.Errorf("beyond max-connections: %v", err)
	}
	r.soon("three connections", func() bool { return r.port.Snapshot().Connections == 3 })
	if got := r.port.Snapshot(); got.Accepted != 3 || got.Refused["limit"] != 2 {
		t.Errorf("snapshot %+v", got)
	}
	_ = c.Abort() // who leaves makes room
	r.soon("room", func() bool { return r.port.Snapshot().Connections == 2 })
	r.mustCall("s", "")
}

// A wrong passphrase does not use up the limits.
func TestRefusedCallersHoldNoPlace(t *testing.T) {
	r := newRig(t, config.Listener{MaxConnections: 1, Passphrase: "the right one"})
	r.publish("s", "")
	for range 5 {
		r.wantRefused("s", "the wrong one", srtcore.RejBadSecret, "passphrase")
	}
	r.mustCall("s", "the right one")
}

func TestAddressesOnTheWire(t *testing.T) {
	r := newRig(t, config.Listener{Address: "srt://:0?latency=20", Deny: []string{"127.0.0.2"}, Allow: []string{"127.0.0.0/8", "::1"}})
	r.play("s", "")
	_, port, _ := net.SplitHostPort(r.addr())
	for _, c := range []struct {
		local, host string
		ok          bool
	}{
		{"127.0.0.1:0", "127.0.0.1", true}, // IPv4 on a socket of both families
		{"127.0.0.2:0", "127.0.0.1", false},
		{"[::1]:0", "::1", true},
	} {
		cfg := srtcore.DefaultConfig()
		cfg.StreamID, cfg.LocalAddr = "s", c.local
		conn, err := srtcore.Dial(r.ctx, net.JoinHostPort(c.host, port), &cfg)
		if err == nil {
			_ = conn.Abort()
		}
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, &srtcore.RejectError{Reason: srtcore.RejForbidden}) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The rules can change while callers are connected; the address cannot.
func TestUpdate(t *testing.T) {
	cfg := config.Listener{Name: "main", Address: "srt://127.0.0.1:0?latency=20&passphrase=0123456789"}
	r := newRig(t, cfg)
	in := r.publish("in", "")
	c := r.mustCall("in", "0123456789")
	src := r.openSource(in)
	cfg.Deny = []string{"127.0.0.0/8"}
	if err := r.port.Update(cfg); err != nil {
		t.Fatal(err)
	}
	r.wantRefused("in", "0123456789", srtcore.RejForbidden, "address")
	if _, err := c.Write(message(7)); err != nil {
		t.Fatal(err)
	}
	msgs := make([][]byte, 4)
	if n, err := src.ReadBatch(msgs); n != 1 || err != nil || string(msgs[0]) != string(message(7)) {
		t.Errorf("ReadBatch = %d, %v", n, err)
	}
	cfg.Deny = nil
	if err := r.port.Update(cfg); err != nil {
		t.Fatal(err)
	}
	r.wantRefused("in", "", srtcore.RejUnsecure, "passphrase") // the address still has it
	cfg.Address = "127.0.0.1:1"
	if err := r.port.Update(cfg); !errors.Is(err, access.ErrAddressChanged) {
		t.Errorf("another address: %v", err)
	}
	cfg.Deny = []string{"300.0.0.1"}
	if err := r.port.Update(cfg); err == nil {
		t.Error("a bad rule was taken")
	}
}

// A withdrawn stream refuses its callers, and frees its name.
func TestClosedEnd(t *testing.T) {
	r := newRig(t, config.Listener{})
	out := r.play("s", "")
	if _, err := r.port.Play(config.Ref{Stream: "s"}); err == nil {
		t.Error("two ends for one stream")
	}
	waits := make(chan error)
	go func() {
		_, err := out.OpenSink(r.ctx)
		waits <- err
	}()
	r.soon("the stream to be served", func() bool { return strings.Contains(out.URL(), "r=s,m=request") })
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waits; !errors.Is(err, net.ErrClosed) {
		t.Errorf("OpenSink = %v", err)
	}
	r.wantRefused("s", "", srtcore.RejNotFound, "stream")
	r.play("s", "")
	r.mustCall("s", "")
	r.port.Close()
	r.port.Close()
	if _, err := r.port.Publish(config.Ref{Stream: "x"}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Publish after Close = %v", err)
	}
}

func TestTakenPort(t *testing.T) {
	r := newRig(t, config.Listener{})
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p, err := access.NewPort(config.Listener{Name: "second", Address: c.LocalAddr().String()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Listen(r.ctx); err == nil || !strings.Contains(err.Error(), `listener "second"`) {
		t.Errorf("Listen = %v", err)
	}
}

// Refusals of one kind are logged a few at a time, and all are counted.
func TestRefusalsAreLoggedSparsely(t *testing.T) {
	r := newRig(t, config.Listener{Deny: []string{"127.0.0.1"}})
	for range 30 {
		r.wantRefused("s", "", srtcore.RejForbidden, "address")
	}
	if n := strings.Count(r.log.String(), "caller refused"); n != 5 {
		t.Errorf("%d lines, want 5: %s", n, r.log)
	}
	if n := r.port.Snapshot().Refused["address"]; n != 30 {
		t.Errorf("counted %d", n)
	}
}

// A living publisher keeps his place; a silent one gives way.
func TestSecondPublisher(t *testing.T) {
	r := newRig(t, config.Listener{})
	in := r.publish("in", "")
	first := r.mustCall("in", "")
	src := r.openSource(in)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-tick.C:
				_, _ = first.Write(message(i))
			}
		}
	}()
	begun := time.Now()
	r.wantRefused("in", "", srtcore.RejConflict, "busy")
	if d := time.Since(begun); d > silenceOfOwn {
		t.Errorf("refused after %v", d)
	}
	close(stop)
	<-stopped
	second := r.mustCall("in", "")
	if _, err := readAll(src); err == nil || !strings.Contains(err.Error(), "silent") {
		t.Errorf("the first ended with %v", err)
	}
	src.Close()
	next := r.openSource(in)
	for i := range 10 {
		if _, err := second.Write(message(i)); err != nil {
			t.Fatal(err)
		}
	}
	go second.Close()
	got, err := readAll(next)
	if err != nil {
		t.Fatal(err)
	}
	wantRun(t, got, 0, 10)

	r.mustCall("in", "") // one that is silent from the beginning gives way to a stranger, too
	begun = time.Now()
	if _, err := r.callFrom("127.0.0.2:0", "in", ""); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(begun); d < 900*time.Millisecond {
		t.Errorf("a stranger took the place after %v", d)
	}
}

const silenceOfOwn = 400 * time.Millisecond
