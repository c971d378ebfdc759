package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/srtcore"
)

func TestSavedTraceIsReadBack(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	var top struct{ Report Report }
	if err := json.Unmarshal(b.Bytes(), &top); err != nil || !reflect.DeepEqual(top.Report.Gaps, Explain(sample()).Gaps) {
		t.Errorf("the report in it: %+v, %v", top.Report, err)
	}
	got, err := Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, sample()) {
		t.Errorf("got  %+v\nwant %+v", got, sample())
	}
}

func TestReadRefusesWhatIsNoTrace(t *testing.T) {
	var capture, empty bytes.Buffer
	if err := WritePcapng(&capture, sample()); err != nil {
		t.Fatal(err)
	}
	if err := json.NewEncoder(&empty).Encode(saved{Format: savedFormat}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "not a trace"},
		{"text", "G@@@ payload", "not a trace"},
		{"half", `{"format":"weirline-trace-1","trace":{"records":[{"at":1`, "not a trace"},
		{"other JSON", `{"routes":[]}`, "JSON of another kind"},
		{"a list", `[1,2]`, "not a trace"},
		{"later version", `{"format":"weirline-trace-7"}`, "weirline-trace-7"},
		{"unknown kind", `{"format":"weirline-trace-1","trace":{"records":[{"kind":"magic"}]}}`, `"magic" is unknown: allowed connected`},
		{"capture", capture.String(), "pcapng"},
		{"impossible numbers", `{"format":"weirline-trace-1","trace":{"records":[{"kind":"nak","seq":5,"count":-5}]}}`, "record 1 cannot be"},
		{"empty", empty.String(), "no records"},
	} {
		if _, err := Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

func TestNothingRecordedIsAnError(t *testing.T) {
	for _, f := range []Format{Pcapng, JSON} {
		if err := f.Write(&bytes.Buffer{}, srtcore.Trace{}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.Contains(err.Error(), "pcapng, text, json") {
		t.Error(err)
	}
}

// Numbers that no recorder writes, from a file that somebody has changed, must
// not end in a panic or take for ever.
func FuzzExplain(f *testing.F) {
	var b bytes.Buffer
	if err := WriteJSON(&b, sample()); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"format":"weirline-trace-1","trace":{"records":[{"kind":"nak","seq":4294967295,"count":-5},{"kind":"gap","seq":2147483647,"count":2147483647}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, f := range Formats {
			_ = f.Write(&bytes.Buffer{}, tr)
		}
		peer := tr
		peer.SocketID, peer.PeerSocketID = tr.PeerSocketID, tr.SocketID
		if _, err := ExplainBoth(tr, peer); err != nil {
			t.Fatal(err)
		}
	})
}

func TestTracesOfTwoConnectionsAreRefused(t *testing.T) {
	if _, err := ExplainBoth(sample(), sample()); err == nil || !strings.Contains(err.Error(), "not the traces of both ends") {
		t.Error(err)
	}
}

func TestTextNamesCausesAndAdvice(t *testing.T) {
	var b bytes.Buffer
	if err := Explain(sample()).WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if lost, mended := strings.Index(b.String(), "Lost for good"), strings.Index(b.String(), "Repaired, or"); lost < 0 || mended < lost {
		t.Errorf("what is lost is not told first:\n%s", b.String())
	}
	for _, want := range []string{
		"192.0.2.1:9000 accepted from 198.51.100.7:40000", `stream id "live/a"`,
		"latency-too-small", "1018", "up to 12.0 ms too late", "the latest 56.0 ms before its time",
		"Raise the latency from 120 ms to at least 240 ms", "Compare the passphrases",
	} {
		if !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

func TestLatencyFollowsTheRule(t *testing.T) {
	for _, c := range []struct {
		link    Link
		repeats int
		latency time.Duration
	}{
		{Link{RTT: 10 * msec}, 1, 120 * msec},                                        // no loss: the least
		{Link{RTT: 100 * msec}, 1, 200 * msec},                                       // one repeat all the same
		{Link{RTT: 100 * msec, Loss: .01}, 2, 300 * msec},                            // .01^3 is a millionth
		{Link{RTT: 100 * msec, Loss: .001}, 1, 200 * msec},                           // .001^2
		{Link{RTT: 100 * msec, Loss: .1}, 5, 600 * msec},                             // .1^6
		{Link{RTT: 40 * msec, Loss: .05, Jitter: 15 * msec}, 4, 220 * msec},          // 5 * 40 + 15
		{Link{RTT: 40 * msec, Loss: .01, Again: .1}, 4, 200 * msec},                  // .01 * .1^4
		{Link{RTT: 100 * msec, Loss: .1, Residual: .001}, 2, 300 * msec},             // .1^3
		{Link{RTT: 20 * msec, Loss: .01, Burst: 200 * msec}, 2, 260 * msec},          // a silence to bridge
		{Link{RTT: 20 * msec, Loss: .01, Least: 500 * msec}, 2, 500 * msec},          // not less than wanted
		{Link{RTT: 50 * msec, Loss: 1}, MaxRepeats, 550 * msec},                      // broken
		{Link{RTT: 50 * msec, Loss: .9, Again: 1}, MaxRepeats, 550 * msec},           // the same
		{Link{RTT: 33 * msec, Loss: .01, Jitter: 1 * msec}, 2, 120 * msec},           // 100, below the least
		{Link{RTT: 43 * msec, Loss: .01, Jitter: 3 * msec}, 2, 140 * msec},           // 132, rounded up
		{Link{RTT: 10 * msec, Least: 10 * msec}, 1, 120 * msec},                      // the least holds
		{Link{RTT: 100 * msec, Loss: 1e-7}, 1, 200 * msec},                           // below the residual already
		{Link{RTT: 100 * msec, Loss: .01, Again: 1e-12}, 1, 200 * msec},              // repeats never lost
		{Link{RTT: 100 * msec, Loss: .5}, MaxRepeats, (MaxRepeats + 1) * 100 * msec}, // bounded
	} {
		if n, d := Repeats(c.link), Latency(c.link); n != c.repeats || d != c.latency {
			t.Errorf("%+v: %d repeats and %v, want %d and %v", c.link, n, d, c.repeats, c.latency)
		}
	}
}
