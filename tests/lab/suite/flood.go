package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
	"github.com/weirline/weirline/tests/lab/stat"
)

// flooded is what the attacker says.
type flooded struct {
	Local    string  `json:"local"`
	Offered  float64 `json:"naks_sent"`
	Rate     float64 `json:"naks_per_s"`
	Filled   float64 `json:"filled"`
	Rexmit   float64 `json:"rexmit_pkts"`
	Span     float64 `json:"last_span"`
	Shutdown bool    `json:"shutdown"`
}

// floodCase is one attacker beside one healthy player.
type floodCase struct {
	rate, window int
	why          string // it was not healthy, or did not take place
	step         step
	attack       flooded
	processed    float64
}

func (c floodCase) String() string {
	s, a := c.step, c.attack
	return fmt.Sprintf("%d NAK/s, window %d: %s; %.0f packets unacknowledged at the start, %.0f at the end; %.0f NAKs sent at %.0f/s, %.0f processed, %.0f retransmissions; relay %.2f cores; delay p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f ms, %.0f of %.0f messages late",
		c.rate, c.window, orHealthy(c.why), a.Filled, a.Span, a.Offered, a.Rate, c.processed, a.Rexmit,
		s.relayCores, s.P50, s.P99, s.P999, s.Max, s.Late, s.Msgs)
}

// flood puts an attacker beside a healthy player, case after case, the windows
// in turn; the controls, whose attacker reports nothing, stand among them.
func flood(ctx context.Context, l *lab, x scenario) error {
	var done []floodCase
	for i, rate := range floodRates(x.set) {
		if !rest(ctx) {
			break
		}
		c := floodCase{rate: rate, window: profile.FloodWindows[i%len(profile.FloodWindows)]}
		if err := l.floodCase(ctx, x, i, &c); err != nil {
			c.why = err.Error()
		}
		if ctx.Err() != nil {
			break
		}
		done = append(done, c)
		l.logf("  case %d: %v", len(done), c)
	}
	if len(done) > 0 {
		l.floodFound(x, done)
	}
	return ctx.Err()
}

// floodRates lists the rate of each case. The windows alternate, so a control is
// a pair of cases, and the pairs of controls are spread over the run.
func floodRates(set profile.Setting) []int {
	pairs, controls := (set.Cases+1)/2, (set.Controls+1)/2
	var out []int
	for i := range pairs {
		if i*controls%pairs < controls {
			out = append(out, 0, 0)
		}
		out = append(out, profile.FloodRate, profile.FloodRate)
	}
	return out
}

func (l *lab) floodFound(x scenario, done []floodCase) {
	healthy, attacked := 0, 0
	f := report.Finding{Scenario: x.s.Name}
	p99, cores := map[string][]float64{}, map[string][]float64{}
	for i, c := range done {
		f.Lines = append(f.Lines, fmt.Sprintf("case %d: %v", i+1, c))
		what := "control"
		if c.rate > 0 {
			what = "flood"
			attacked++
			if c.why == "" {
				healthy++
			}
		}
		what = fmt.Sprintf("%s, window %d", what, c.window)
		if c.step.Msgs > 0 {
			p99[what], cores[what] = append(p99[what], c.step.P99), append(cores[what], c.step.relayCores)
		}
	}
	f.Text = fmt.Sprintf("The healthy stream was complete and on time in %d of %d cases with the flood. Medians:", healthy, attacked)
	for _, what := range slices.Sorted(maps.Keys(p99)) {
		f.Text += fmt.Sprintf(" %s: p99 %.1f ms, relay %.2f cores;", what, stat.Median(p99[what]), stat.Median(cores[what]))
	}
	f.Text = strings.TrimSuffix(f.Text, ";") + "."
	l.result.Findings = append(l.result.Findings, f)
	note := fmt.Sprintf("of %d", attacked)
	if attacked < x.set.Cases {
		note += "; interrupted"
	}
	l.judge(x.s.Name, x.s.Bars, profile.HealthyIn, "", float64(healthy), note)
}

// publisherGone makes a publisher whose farewell was lost gone before the next
// one's stream is judged.
const publisherGone = "&peeridletimeo=1000"

// floodCase runs one case.
func (l *lab) floodCase(ctx context.Context, x scenario, i int, c *floodCase) error {
	// The sender's buffer holds the whole window: the worst there is to search.
	r, err := l.bareRelay(ctx, x.s.Name, fmt.Sprintf("&fc=%d&sndbuf=%d", c.window, c.window*1472), publisherGone)
	if r != nil {
		defer r.end()
	}
	if err != nil {
		return err
	}
	// A second until the attacker is there, a third of one to spare.
	if err := r.publish(profile.FloodFillMbps, 1.3+float64(c.window)/perSecond(profile.FloodFillMbps)); err != nil {
		return err
	}
	// A relay waits for its only caller for a while; one that reads sets the pace
	// while the window fills and the publishers change. It is not judged.
	if _, err := r.start(loadProgram, l.cores().load, "", "players", "--port", itoa(r.out), "--n", "1",
		"--from", "29002", "--secs", "3600"); err != nil {
		return err
	}
	// Ready when its window is full. What follows takes up to 5 s and the hold.
	attack, err := r.start(loadProgram, l.cores().load, "ready", "flood", "--port", itoa(r.out), "--window", itoa(c.window),
		"--rate", itoa(c.rate), "--secs", secs(x.set.Secs+5), "--seed", itoa(i+1))
	if err != nil {
		return err
	}
	if err := r.publish(x.set.Mbps, 3600); err != nil {
		return err
	}
	if err := r.hold(.5); err != nil {
		return err
	}
	if c.step, err = r.players(1, 0, x.set.Secs); err != nil {
		return err
	}
	if err := r.result(attack, &c.attack); err != nil {
		return err
	}
	c.processed = processed(r.statsFile, c.attack.Local)
	c.why = c.verdict(x.set)
	return nil
}

// verdict says why a case does not pass, or nothing.
func (c floodCase) verdict(set profile.Setting) string {
	a := c.attack
	if why := c.step.sick(1, set.Mbps, set.Secs, inLatencyMs+outLatencyMs); why != "" {
		return why
	}
	switch {
	case a.Filled < float64(c.window):
		return fmt.Sprintf("the window was not full: %.0f of %d packets", a.Filled, c.window)
	case a.Rate < .95*float64(c.rate) && !a.Shutdown:
		return fmt.Sprintf("the flood was not offered: %.0f NAK/s", a.Rate)
	case c.processed < .9*a.Offered-float64(c.rate)/2:
		return fmt.Sprintf("the flood was not processed: %.0f of %.0f NAKs", c.processed, a.Offered)
	}
	return ""
}

// processed is how many loss reports of that peer the relay's statistics count.
func processed(file, peer string) float64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer f.Close()
	most := 0.0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		var s struct {
			Outputs []struct {
				Sessions []struct {
					Peer string `json:"peer"`
					SRT  struct {
						NAKs float64 `json:"pktRecvNAKTotal"`
					} `json:"srt"`
				} `json:"sessions"`
			} `json:"outputs"`
		}
		if json.Unmarshal(sc.Bytes(), &s) != nil {
			continue
		}
		for _, o := range s.Outputs {
			for _, c := range o.Sessions {
				if c.Peer == peer {
					most = max(most, c.SRT.NAKs)
				}
			}
		}
	}
	return most
}
