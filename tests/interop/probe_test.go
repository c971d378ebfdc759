package interop

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/impair"
	"github.com/weirline/weirline/tests/port"
)

// probed is of the report what a test of another implementation can hold it to.
type probed struct {
	Packets   int     `json:"packets"`
	Loss      float64 `json:"loss"`
	LossAgain float64 `json:"lossAgain"`
	Lost      int     `json:"lost"`
	RTT       struct {
		Median float64 `json:"median"`
	} `json:"rttMs"`
	Advice struct {
		LatencyMs int     `json:"latencyMs"`
		Repeats   int     `json:"repeats"`
		MaxMbps   float64 `json:"maxMbps"`
	} `json:"advice"`
}

// A probe of a link behind which libsrt receives. Its loss reports come again
// before a retransmission can have come, and must not count as losses of it.
func TestProbeOfAPeerWithLibsrt(t *testing.T) {
	t.Parallel()
	slt.need(t)
	for _, c := range []struct {
		name  string
		up    impair.Path
		rate  string
		check func(r *probed) bool
	}{
		{"lossy", impair.Path{Delay: 20 * time.Millisecond, Loss: .05}, "5M", func(r *probed) bool {
			return r.Loss > .02 && r.Loss < .1 && r.LossAgain < .6 && r.Lost == 0 && r.RTT.Median >= 40 &&
				r.Advice.Repeats >= 3 && r.Advice.Repeats < 10 && r.Advice.LatencyMs >= 160 && r.Advice.MaxMbps == 0
		}},
		{"too slow", impair.Path{Delay: 10 * time.Millisecond, Rate: &impair.Rate{Bits: 2_000_000}}, "5M", func(r *probed) bool {
			return r.Advice.MaxMbps > .5 && r.Advice.MaxMbps <= 2 && r.Advice.LatencyMs == 0
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			addr := port.Addr(t)
			peer := start(t, nil, "srt-live-transmit", "-q", "srt://"+addr+"?mode=listener", "file://con")
			defer peer.stop()
			relay, err := impair.Start(impair.Config{Target: addr, Seed: 5, Up: c.up, Down: impair.Path{Delay: c.up.Delay}})
			if err != nil {
				t.Fatal(err)
			}
			defer relay.Close()
			r := runProbe(t, "--send", "--secs", "5", "--rate", c.rate, "srt://127.0.0.1:"+strconv.Itoa(relay.Port()))
			if !c.check(r) {
				t.Errorf("%+v", *r)
			}
		})
	}
}

// runProbe runs weirline probe until the peer is there.
func runProbe(t *testing.T, args ...string) *probed {
	t.Helper()
	var out, errs bytes.Buffer
	for until := time.Now().Add(40 * time.Second); ; {
		out.Reset()
		errs.Reset()
		cmd := exec.Command(binary, append([]string{"probe", "--json"}, args...)...)
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if err == nil {
			break
		}
		const noAnswer = 4
		if cmd.ProcessState.ExitCode() != noAnswer || time.Now().After(until) {
			t.Fatalf("%v\n%s", err, errs.String())
		}
	}
	var r probed
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return &r
}
