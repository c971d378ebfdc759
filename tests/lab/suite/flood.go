package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/weirline/weirline/tests/lab/profile"
	"github.com/weirline/weirline/tests/lab/report"
)

// flooded is what the attacker says.
type flooded struct {
	Local    string  `json:"local"`
	Offered  float64 `json:"naks_sent"`
	Rate     float64 `json:"naks_per_s"`
	Rexmit   float64 `json:"rexmit_pkts"`
	Span     float64 `json:"last_span"`
	Shutdown bool    `json:"shutdown"`
}

// flood puts an attacker beside a healthy player, case after case, the windows
// in turn.
func flood(ctx context.Context, l *lab, x scenario) error {
	healthy := 0
	f := report.Finding{Scenario: x.s.Name}
	for i := range x.set.Cases {
		if !rest(ctx) {
			return ctx.Err()
		}
		window := profile.FloodWindows[i%len(profile.FloodWindows)]
		why, line := l.floodCase(ctx, x, i, window)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why == "" {
			healthy++
		}
		f.Lines = append(f.Lines, fmt.Sprintf("case %d, window %d: %s%s", i+1, window, orHealthy(why), line))
		l.logf("  case %d, window %d: %s%s", i+1, window, orHealthy(why), line)
	}
	f.Text = fmt.Sprintf("The healthy stream was complete and on time in %d of %d cases.", healthy, x.set.Cases)
	l.result.Findings = append(l.result.Findings, f)
	l.judge(x.s.Name, x.s.Bars, profile.HealthyIn, "", float64(healthy), fmt.Sprintf("of %d", x.set.Cases))
	return nil
}

// floodCase says why a case was not healthy, and what the attack amounted to.
func (l *lab) floodCase(ctx context.Context, x scenario, i, window int) (why, line string) {
	// The sender's buffer holds the whole window: the worst there is to search.
	r, err := l.relay(ctx, x.s.Name, x.set.Mbps, fmt.Sprintf("&fc=%d&sndbuf=%d", window, window*1472))
	if r != nil {
		defer r.end()
	}
	if err != nil {
		return err.Error(), ""
	}
	load := l.cores().load
	attack, err := r.start(loadProgram, load, "ready", "flood", "--port", itoa(r.out), "--window", itoa(window),
		"--rate", itoa(profile.FloodRate), "--secs", secs(x.set.Secs+2.5), "--seed", itoa(i+1))
	if err != nil {
		return err.Error(), ""
	}
	s, err := r.players(1, 0, x.set.Secs)
	if err != nil {
		return err.Error(), ""
	}
	var a flooded
	if err := r.result(attack, &a); err != nil {
		return err.Error(), ""
	}
	done := processed(r.statsFile, a.Local)
	line = fmt.Sprintf("; %.0f NAKs sent at %.0f/s, last over %.0f packets, %.0f processed, %.0f retransmissions; relay %.2f cores, p99 %.1f ms",
		a.Offered, a.Rate, a.Span, done, a.Rexmit, s.relayCores, s.P99)
	if why = s.sick(1, x.set.Mbps, x.set.Secs, inLatencyMs+outLatencyMs); why != "" {
		return why, line
	}
	switch {
	case a.Rate < .95*profile.FloodRate && !a.Shutdown:
		return fmt.Sprintf("the flood was not offered: %.0f NAK/s", a.Rate), line
	case done < .9*a.Offered-profile.FloodRate/2:
		return fmt.Sprintf("the flood was not processed: %.0f of %.0f NAKs", done, a.Offered), line
	}
	return "", line
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
