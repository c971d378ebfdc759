package control_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
	"github.com/weirline/weirline/tests/api/fake"
)

// faulty panics where it is asked for routes.
type faulty struct{ *fake.Daemon }

func (faulty) Routes() []route.Snapshot { panic("boom") }

type eventList struct {
	Events []control.Event
	Last   uint64
}

func TestEventsWait(t *testing.T) {
	d := fake.New(0)
	srv := startServer(t, options(d))
	get := func(query string) (out eventList) {
		t.Helper()
		_, body, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/events?"+query, "", withToken)
		if err := json.Unmarshal([]byte(body), &out); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return out
	}
	if got := get("since=1"); len(got.Events) != 2 || got.Last != 3 {
		t.Errorf("%+v", got)
	}
	if got := get("since=3"); len(got.Events) != 0 || got.Last != 3 {
		t.Errorf("%+v", got)
	}
	answer := make(chan eventList, 1)
	go func() { answer <- get("since=3&wait=30") }()
	d.Event("info", "r", "player-joined", "somebody")
	if got := <-answer; len(got.Events) != 1 || got.Events[0].Text != "somebody" {
		t.Errorf("%+v", got)
	}
}

// sse reads events of a stream until want of them are there.
func sse(t *testing.T, url string, headers map[string]string, want int, each func(id, name, data string)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req := mustRequest(t, ctx, "GET", url, "")
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("Content-Type %q", kind)
	}
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<22)
	var id, name, data string
	for want > 0 && in.Scan() {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch key {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		case "":
			each(id, name, data)
			id, name, data = "", "", ""
			want--
		}
	}
	if want > 0 {
		t.Fatalf("%d events are missing: %v", want, in.Err())
	}
}

func TestEventStreamGoesOnWhereItWas(t *testing.T) {
	d := fake.New(0)
	srv := startServer(t, options(d))
	var ids []string
	keep := func(id, name, data string) {
		if name == "event" && json.Valid([]byte(data)) {
			ids = append(ids, id)
		}
	}
	sse(t, srv.URL+"/v1/events/stream?since=1", nil, 2, keep)
	sse(t, srv.URL+"/v1/events/stream?since=1", map[string]string{"Last-Event-ID": "2"}, 1, keep)
	if got := strings.Join(ids, " "); got != "2 3 3" {
		t.Errorf("ids %s", got)
	}
}

func TestStatsStream(t *testing.T) {
	d := fake.New(2)
	s := newServer(t, options(d))
	srv := startServerOf(t, s)
	at := time.Unix(1000, 0)
	control.Sample(s, at)
	n := 0
	var rates []float64
	sse(t, srv.URL+"/v1/stats/stream?events=0", nil, 3+3, func(_, name, data string) {
		if name == "event" {
			n++
			return
		}
		var live control.Live
		if err := json.Unmarshal([]byte(data), &live); err != nil {
			t.Fatal(err)
		}
		rates = append(rates, live.Connections[0].SRT.Mbps)
		if len(live.Routes[0].Outputs[1].Sessions) != 0 || len(live.Connections) != 5 {
			t.Errorf("sessions %+v, connections %d", live.Routes[0].Outputs[1].Sessions, len(live.Connections))
		}
		d.Advance(time.Second)
		at = at.Add(time.Second)
		control.Sample(s, at)
	})
	if n != 3 {
		t.Errorf("%d events", n)
	}
	if len(rates) != 3 || rates[0] != 0 || rates[1] < 5.9 || rates[1] > 6.7 {
		t.Errorf("rates %v, want about 6 Mbit/s from the second on", rates)
	}
	_, body, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/connections/c1/history", "", withToken)
	var h control.History
	if err := json.Unmarshal([]byte(body), &h); err != nil || len(h.Mbps) != 3 || len(h.RTT) != 3 || h.Mbps[0] < 5.9 {
		t.Errorf("%v %s", err, body)
	}
}

// TestStreamsAreBounded: the last one is refused with the reason, and has its
// place when another leaves.
func TestStreamsAreBounded(t *testing.T) {
	srv := startServer(t, options(fake.New(0)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range control.MaxStreams {
		req := mustRequest(t, ctx, "GET", srv.URL+"/v1/stats/stream", "")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
	}
	status, body, head := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/events/stream", "", withToken)
	if status != 503 || head.Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", status, body)
	}
	if status, _, _ := ask(t, http.DefaultClient, "GET", srv.URL+"/v1/status", "", withToken); status != 200 {
		t.Errorf("a short request beside them: %d", status)
	}
	cancel()
	for end := time.Now().Add(10 * time.Second); status == 503 && time.Now().Before(end); {
		status, _, _ = ask(t, http.DefaultClient, "GET", srv.URL+"/v1/events/stream", "", withToken)
	}
	if status != 200 {
		t.Errorf("after they left: %d", status)
	}
}
