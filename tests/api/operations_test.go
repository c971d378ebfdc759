package api

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/weirline/weirline/docs"
	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/served"
)

func dialerFrom(address string, timeout time.Duration) func(context.Context, string, string) (net.Conn, error) {
	d := &net.Dialer{Timeout: timeout, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return d.DialContext
}

// configuration is a port that routes share, and one route there. Nobody answers
// its second output.
func configuration(srt string) string {
	return fmt.Sprintf(`
listeners:
  - { name: main, address: 'srt://%s?mode=listener&latency=200&tlpktdrop=0' }
routes:
  - name: studio
    max-age: 10s
    sources: [ { publish: { listener: main, stream: live/studio } } ]
    outputs:
      - { play: { listener: main, stream: live/studio } }
      - { url: 'srt://127.0.0.1:9?conntimeo=500&passphrase=%s' }
`, srt, passphrase)
}

// TestEveryOperation walks through docs/openapi.yaml with a daemon that carries
// media. What is done has its effect there, and every answer that the file lists
// is seen and is as the file says.
func TestEveryOperation(t *testing.T) {
	srt := port.Addr(t)
	x := newExplorer(t, served.Start(t, token, configuration(srt)))
	publisher := served.Publish(t, srt, "#!::r=live/studio,m=publish", 's', 2)
	player := served.Play(t, srt, "#!::r=live/studio,m=request,u=alice", 's')
	player.WantMore("alice")

	x.daemonItself(srt)
	x.routes(srt)
	x.outputs()
	x.connections(srt)
	x.happenings()
	x.faces()
	x.login()
	x.withoutToken()
	x.badBodies()
	x.tooManyStreams()
	x.guessing()
	x.wantAll()
	publisher.WantMore("the publisher")
	player.WantMore("alice")
}

func (x *explorer) daemonItself(srt string) {
	x.want(200, "GET /v1/status", request{})
	body, _ := x.want(200, "GET /v1/listeners", request{})
	if !strings.Contains(body, srt) {
		x.t.Errorf("listeners: %s", body)
	}
	x.want(200, "GET /v1/log-level", request{})
	if body, _ := x.want(200, "PUT /v1/log-level", request{body: `{"level":"debug"}`}); !strings.Contains(body, "debug") {
		x.t.Errorf("log level: %s", body)
	}
	x.want(422, "PUT /v1/log-level", request{body: `{"level":"loud"}`})
	served.Call(x.t, srt, "#!::r=live/studio,m=request,u=seen").Conn.Close()
	served.Until(x.t, "the log to have more in it", func() bool { return strings.Contains(x.Said(), "level=DEBUG") })

	x.Configure(configuration(srt) + "  - { name: second, sources: [ { publish: { listener: main, stream: second } } ] }\n")
	x.want(200, "POST /v1/reload", request{})
	x.want(200, "GET /v1/routes/{name}", request{in: name("second")})
	x.want(204, "DELETE /v1/routes/{name}", request{in: name("second")})
	x.want(200, "POST /v1/reload", request{}) // it is in the file: it comes back
	x.want(200, "GET /v1/routes/{name}", request{in: name("second")})
	x.Configure("routes: 7\n")
	body, _ = x.want(422, "POST /v1/reload", request{})
	if !strings.Contains(body, filepath.Base(x.File)) {
		x.t.Errorf("a file that is wrong: %s", body)
	}
	if body, _ := x.want(200, "GET /v1/status", request{}); !strings.Contains(body, "configError") {
		x.t.Errorf("status after a file that is wrong: %s", body)
	}
	x.Configure(configuration(srt))
	x.want(200, "POST /v1/reload", request{})
	x.want(404, "GET /v1/routes/{name}", request{in: name("second")})
}

func name(of string) map[string]string { return map[string]string{"name": of} }

func id(of string) map[string]string { return map[string]string{"id": of} }

// routes adds one, has media pass through it, and removes it.
func (x *explorer) routes(srt string) {
	const added = "new-one"
	route := `{"name":"` + added + `","sources":[{"publish":{"listener":"main","stream":"new","passphrase":"` + passphrase + `"}}],` +
		`"outputs":[{"play":{"listener":"main","stream":"new"}}],"max-age":"10s","max-players":2}`
	body, head := x.want(201, "POST /v1/routes", request{body: route})
	if got := head.Get("Location"); got != "/v1/routes/"+added {
		x.t.Errorf("Location %q", got)
	}
	if got := decode[struct{ Name string }](x.t, body).Name; got != added {
		x.t.Errorf("the new route: %s", body)
	}
	x.want(409, "POST /v1/routes", request{body: route})
	x.want(422, "POST /v1/routes", request{body: `{"name":"x","sources":[{"publish":{"listener":"none","stream":"x"}}]}`})
	x.want(422, "POST /v1/routes", request{body: `{"name":"x"}`})
	x.want(422, "POST /v1/routes", request{body: `{"name":"a/b","sources":[{"url":"udp://127.0.0.1:9"}]}`})
	x.want(200, "GET /v1/routes", request{})
	x.want(200, "GET /v1/routes/{name}", request{in: name(added)})
	x.want(404, "GET /v1/routes/{name}", request{in: name("nobody")})

	player := served.Play(x.t, srt, "#!::r=new,m=request", 'n')
	served.PublishSecretly(x.t, srt, "#!::r=new,m=publish", passphrase, 'n', 1)
	player.WantMore("the player of the new route")
	x.want(204, "DELETE /v1/routes/{name}", request{in: name(added)})
	player.WantEnd("the player of a route that was removed")
	x.want(404, "DELETE /v1/routes/{name}", request{in: name(added)})
}

// outputs adds one to the running route and takes it away.
func (x *explorer) outputs() {
	socket, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		x.t.Fatal(err)
	}
	defer socket.Close()
	const add, remove = "POST /v1/routes/{name}/outputs", "DELETE /v1/routes/{name}/outputs/{id}"
	body, head := x.want(201, add, request{in: name("studio"), body: `{"url":"udp://` + socket.LocalAddr().String() + `"}`})
	out := decode[struct{ ID string }](x.t, body).ID
	if got := head.Get("Location"); got != "/v1/routes/studio/outputs/"+out {
		x.t.Errorf("Location %q", got)
	}
	socket.SetReadDeadline(time.Now().Add(served.Patience))
	datagram := make([]byte, 2000)
	if n, _, err := socket.ReadFrom(datagram); err != nil || n%188 != 0 || datagram[0] != 0x47 {
		x.t.Errorf("the output that was added: %d bytes, %v", n, err)
	}
	x.want(422, add, request{in: name("studio"), body: `{"url":"ftp://h/` + passphrase + `"}`})
	x.want(422, add, request{in: name("studio"), body: `{}`})
	x.want(404, add, request{in: name("nobody"), body: `{"url":"udp://127.0.0.1:9"}`})
	taken := port.Addr(x.t)
	udp, err := net.ListenPacket("udp", taken)
	if err != nil {
		x.t.Fatal(err)
	}
	defer udp.Close()
	x.want(409, add, request{in: name("studio"), body: `{"url":"srt://` + taken + `?mode=listener&passphrase=` + passphrase + `"}`})

	both := map[string]string{"name": "studio", "id": out}
	x.want(204, remove, request{in: both})
	x.want(404, remove, request{in: both})
	x.want(404, remove, request{in: map[string]string{"name": "nobody", "id": out}})
}

// connections looks at one and kicks it; another one does not notice.
func (x *explorer) connections(srt string) {
	victim := served.Play(x.t, srt, "#!::r=live/studio,m=request,u=bob", 's')
	victim.WantMore("bob")
	c := x.Find("bob")
	if c.Route != "studio" || c.Direction != "send" || c.SRT == nil || c.Peer == "" || c.URL == "" {
		x.t.Errorf("bob: %+v", c)
	}
	x.want(200, "GET /v1/connections", request{})
	body, _ := x.want(200, "GET /v1/connections/{id}", request{in: id(c.ID)})
	if got := decode[served.Connection](x.t, body); got.SRT.PktSentUniqueTotal == 0 {
		x.t.Errorf("bob: %s", body)
	}
	served.Until(x.t, "bob to have a past", func() bool {
		status, text := x.Do("GET", "/v1/connections/"+c.ID+"/history", "")
		return status == 200 && len(decode[struct{ Mbps []float64 }](x.t, text).Mbps) >= 2
	})
	x.want(200, "GET /v1/connections/{id}/history", request{in: id(c.ID)})
	x.traces(c.ID)
	x.want(204, "DELETE /v1/connections/{id}", request{in: id(c.ID)})
	victim.WantEnd("bob, who was kicked")
	served.Until(x.t, "bob to be forgotten", func() bool {
		status, _ := x.Do("GET", "/v1/connections/"+c.ID, "")
		return status == 404
	})
	for _, op := range []string{"GET /v1/connections/{id}", "DELETE /v1/connections/{id}", "GET /v1/connections/{id}/trace"} {
		x.want(404, op, request{in: id(c.ID)})
	}
	served.Until(x.t, "bob's past to be forgotten", func() bool {
		status, _ := x.Do("GET", "/v1/connections/"+c.ID+"/history", "")
		return status == 404
	})
	x.want(404, "GET /v1/connections/{id}/history", request{in: id(c.ID)})
}

func (x *explorer) traces(of string) {
	const op = "GET /v1/connections/{id}/trace"
	for query, begins := range map[string]string{"": "\x0a\x0d\x0d\x0a", "format=pcapng": "\x0a\x0d\x0d\x0a", "format=text": "", "format=json": "{"} {
		body, head := x.want(200, op, request{in: id(of), query: query})
		if len(body) < 100 || !strings.HasPrefix(body, begins) || !strings.Contains(head.Get("Content-Disposition"), "connection-"+of) {
			x.t.Errorf("trace %s: %q, %.100q", query, head.Get("Content-Disposition"), body)
		}
	}
	x.want(400, op, request{in: id(of), query: "format=avi"})
}

// happenings are the events, and the streams.
func (x *explorer) happenings() {
	body, _ := x.want(200, "GET /v1/events", request{query: "since=1"})
	if !strings.Contains(body, "player-left") {
		x.t.Errorf("events: %s", body)
	}
	x.want(200, "GET /v1/events", request{query: "since=1000000&wait=1"})
	x.want(400, "GET /v1/events", request{query: "since=-1"})
	body, _ = x.want(200, "GET /v1/events/stream", request{query: "since=0"})
	x.events(body, map[string]string{"event": "Event"})
	x.want(400, "GET /v1/events/stream", request{query: "since=x"})
	x.want(200, "GET /v1/stats", request{})
	body, _ = x.want(200, "GET /v1/stats/stream", request{query: "events=0"})
	x.events(body, map[string]string{"event": "Event", "stats": "Live"})
	x.want(400, "GET /v1/stats/stream", request{query: "events=1.5"})
}

// faces are what has no JSON: page, metrics, health, the file itself.
func (x *explorer) faces() {
	body, _ := x.want(200, "GET /v1/openapi.yaml", request{})
	if !bytes.Equal([]byte(body), docs.OpenAPI) {
		x.t.Error("the daemon shows another openapi.yaml")
	}
	for _, op := range []string{"GET /", "GET /app.css", "GET /app.js", "GET /healthz"} {
		x.want(200, op, request{})
	}
	body, _ = x.want(200, "GET /metrics", request{})
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || families["weirline_srt_packets_sent_total"] == nil || families["weirline_route_ts_continuity_errors_total"] == nil {
		x.t.Errorf("metrics: %v: %.500s", err, body)
	}
	x.want(200, "GET /readyz", request{})
	x.notReady()
}

// notReady has a route that cannot begin: the daemon is not ready then, and
// healthy all the same.
func (x *explorer) notReady() {
	taken, err := net.ListenPacket("udp", port.Addr(x.t))
	if err != nil {
		x.t.Fatal(err)
	}
	defer taken.Close()
	x.want(201, "POST /v1/routes", request{body: `{"name":"blocked","sources":[{"url":"srt://` + taken.LocalAddr().String() + `?mode=listener"}]}`})
	served.Until(x.t, "the daemon to be not ready", func() bool {
		status, _ := x.Do("GET", "/readyz", "")
		return status == 503
	})
	body, _ := x.want(503, "GET /readyz", request{})
	if !strings.Contains(body, "1 of 2 routes") || strings.Contains(body, "blocked") {
		x.t.Errorf("readyz: %s", body)
	}
	x.want(200, "GET /healthz", request{})
	x.want(204, "DELETE /v1/routes/{name}", request{in: name("blocked")})
	x.want(200, "GET /readyz", request{})
}

// login exchanges the token for a cookie, which is as good.
func (x *explorer) login() {
	_, head := x.want(204, "POST /v1/login", request{body: `{"token":"` + token + `"}`, headers: map[string]string{"Authorization": ""}})
	cookie, _, _ := strings.Cut(head.Get("Set-Cookie"), ";")
	x.want(200, "GET /v1/status", request{headers: map[string]string{"Authorization": "", "Cookie": cookie}})
	_, head = x.want(204, "POST /v1/logout", request{headers: map[string]string{"Authorization": "", "Cookie": cookie}})
	if got := head.Get("Set-Cookie"); !strings.Contains(got, "Max-Age=0") {
		x.t.Errorf("logout: Set-Cookie %q", got)
	}
	x.want(403, "POST /v1/login", request{body: `{"token":"wrong"}`})
}

// open tells whether an operation asks for no token.
func (x *explorer) open(op string) bool {
	security := x.operations()[op].Security
	return security != nil && len(*security) == 1 && len((*security)[0]) == 0
}

// sample stands in the braces of a path: it need not exist.
var sample = map[string]string{"name": "studio", "id": "none"}

// withoutToken asks for everything with no token and with a wrong one.
func (x *explorer) withoutToken() {
	for op := range x.operations() {
		if x.open(op) {
			continue
		}
		r := request{in: sample, headers: map[string]string{"Authorization": ""}}
		if x.operations()[op].RequestBody != nil {
			r.body = `{}`
		}
		for _, guess := range []string{"", "Bearer wrong", "Basic " + token} {
			r.headers["Authorization"] = guess
			if _, head := x.want(401, op, r); head.Get("WWW-Authenticate") == "" {
				x.t.Errorf("%s: 401 without WWW-Authenticate", op)
			}
		}
	}
	if body, _ := x.want(200, "GET /v1/routes", request{}); !strings.Contains(body, "studio") {
		x.t.Error("something was done without the token")
	}
}

// badBodies sends what is no JSON, not said to be, too much, or not known.
func (x *explorer) badBodies() {
	for op, of := range x.operations() {
		if of.RequestBody == nil {
			continue
		}
		x.want(400, op, request{in: sample, body: `{"`})
		x.want(415, op, request{in: sample, body: `{}`, headers: map[string]string{"Content-Type": "text/plain"}})
		x.want(413, op, request{in: sample, body: `{"name":"` + strings.Repeat("x", 1<<20) + `"}`})
		body, _ := x.want(422, op, request{in: sample, body: `{"no-such-key":"` + passphrase + `"}`})
		if !strings.Contains(body, "no-such-key") {
			x.t.Errorf("%s: a key that is not known: %s", op, body)
		}
	}
}

// tooManyStreams takes all places there are for requests that stay.
func (x *explorer) tooManyStreams() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for range 128 {
		resp, err := http.DefaultClient.Do(x.Request(ctx, "GET", "/v1/stats/stream", ""))
		if err != nil {
			x.t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	x.want(503, "GET /v1/events/stream", request{})
	x.want(503, "GET /v1/stats/stream", request{})
	x.want(503, "GET /v1/events", request{query: "since=1000000&wait=30"})
	x.want(200, "GET /v1/status", request{})
	cancel()
	served.Until(x.t, "a place to be free again", func() bool {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		resp, err := http.DefaultClient.Do(x.Request(ctx, "GET", "/v1/events/stream", ""))
		if err != nil {
			x.t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
}

// guessing tries token after token: soon none is looked at, the right one
// included. Other addresses, and a page that is logged in, do not notice.
func (x *explorer) guessing() {
	_, head := x.want(204, "POST /v1/login", request{body: `{"token":"` + token + `"}`})
	cookie, _, _ := strings.Cut(head.Get("Set-Cookie"), ";")
	there, n := asIf(x.t, "127.0.0.2"), 0
	// try tries a fresh token until one is not looked at.
	try := func(op string, r request) {
		for first := n; ; {
			n++
			guess := fmt.Sprintf("guess-number-%d", n)
			r.from, r.headers = there, bearer(guess)
			if op == "POST /v1/login" {
				r.body = `{"token":"` + guess + `"}`
			}
			status, _, head := x.try(429, op, r)
			if status == 429 {
				if head.Get("Retry-After") == "" {
					x.t.Errorf("%s: 429 without Retry-After", op)
				}
				return
			}
			if n > first+100 {
				x.t.Fatalf("%s: a hundred tokens were looked at", op)
			}
		}
	}
	for op, of := range x.operations() {
		r := request{in: sample}
		if of.RequestBody != nil {
			r.body = `{}`
		}
		if op == "POST /v1/login" || !x.open(op) {
			try(op, r)
		}
	}
	served.Until(x.t, "the right token to be not looked at either", func() bool {
		try("GET /v1/status", request{})
		status, _, _ := x.try(429, "GET /v1/status", request{from: there})
		return status == 429
	})
	x.want(200, "GET /v1/status", request{from: there, headers: map[string]string{"Authorization": "", "Cookie": cookie}})
	x.want(200, "GET /v1/status", request{})
	if said := x.Said(); !strings.Contains(said, "wrong token") || strings.Contains(said, "guess-number") {
		x.t.Errorf("the log on wrong tokens: %s", said)
	}
}
