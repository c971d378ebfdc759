package control

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/hub"
	"github.com/weirline/weirline/sidecar/route"
)

func snapshot() route.Snapshot {
	return route.Snapshot{
		Time:   time.Unix(1, 0),
		Media:  hub.Stats{Messages: 7, Bytes: 9212},
		Source: route.EndSnapshot{URL: "file:///a.ts", State: route.Up, Sessions: []route.SessionSnapshot{{}}},
		Outputs: []route.EndSnapshot{
			{URL: "srt://h:1", State: route.Up, Queue: hub.ReaderStats{Dropped: 3},
				Sessions: []route.SessionSnapshot{{Peer: "1.2.3.4:5", SRT: &srtcore.Stats{MsRTT: 1.5, PktSentTotal: 7}}}},
			{URL: "srt://h:2", State: route.BackOff},
		},
	}
}

func write(t *testing.T, format string) string {
	t.Helper()
	var b bytes.Buffer
	w, err := NewStatsWriter(format, &b)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Write(snapshot()); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestJSONIsOneObjectALine(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(write(t, "json")), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	var got struct {
		Outputs []struct {
			State    string
			Sessions []struct{ SRT struct{ PktSentTotal int } }
		}
	}
	if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Outputs) != 2 || got.Outputs[0].Sessions[0].SRT.PktSentTotal != 7 || got.Outputs[1].State != "back-off" {
		t.Errorf("%+v", got)
	}
}

func TestCSVHasOneHeadAndEqualRows(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(write(t, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+2*3 || rows[0][0] != "time" || rows[2][9] != "1.500" {
		t.Errorf("%q", rows)
	}
}

func TestText(t *testing.T) {
	got := write(t, "text")
	for _, want := range []string{"7 messages", "rtt 1.5 ms", "dropped 3", "back-off"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := NewStatsWriter("xml", nil); err == nil || !strings.Contains(err.Error(), "json, csv, text") {
		t.Errorf("got %v", err)
	}
}
