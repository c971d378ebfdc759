package trace

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// shownRepaired is how many gaps without loss the text tells one by one.
const shownRepaired = 20

const clock = "15:04:05.000"

// WriteText writes the report for people.
func (r Report) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "Connection  %s\n", r.Connection)
	fmt.Fprintf(w, "Trace       %s to %s UTC, %.1f s", r.From.UTC().Format("2006-01-02 "+clock), r.Until.UTC().Format(clock), r.Until.Sub(r.From).Seconds())
	if r.GivenUp > 0 {
		fmt.Fprintf(w, " (the recorder is full: %d earlier records are gone)", r.GivenUp)
	}
	fmt.Fprintf(w, "\nLatency     %.0f ms here, %.0f ms at the peer\n", r.RcvLatencyMs, r.SndLatencyMs)
	if s := r.RTT; s.Samples > 0 {
		fmt.Fprintf(w, "Round trip  %.1f ms (median of %d; least %.1f, 95 %% below %.1f, most %.1f)\n", s.Median, s.Samples, s.Min, s.P95, s.Max)
	} else {
		fmt.Fprintln(w, "Round trip  not measured: nothing was acknowledged")
	}
	if r.Ended != "" {
		fmt.Fprintf(w, "Ended       %s\n", r.Ended)
	}
	r.Received.write(w, "Received")
	r.Sent.write(w, "Sent")
	r.writeGaps(w)
	if len(r.Advice) > 0 {
		fmt.Fprintln(w, "\nAdvice")
		for _, a := range r.Advice {
			fmt.Fprintf(w, "  %s\n", a)
		}
	}
	return w.Flush()
}

func (c *Counts) write(w io.Writer, name string) {
	if c.Packets == 0 && c.Gaps == 0 && c.Lost == 0 {
		return
	}
	fmt.Fprintf(w, "%-12s%s", name, many(c.Packets, "packet"))
	if name == "Sent" {
		fmt.Fprintf(w, "; %d asked for by the peer, %s sent again", c.Missing, many(c.Resent, "packet"))
	} else {
		fmt.Fprintf(w, "; %d missing at first (%.2f %%), %d of them only out of order, %s came",
			c.Missing, 100*c.Loss(), c.Reordered, many(c.Resent, "retransmission"))
	}
	fmt.Fprintf(w, "; %d lost for good", c.Lost)
	if c.Copies > 0 {
		fmt.Fprintf(w, "; %d came twice", c.Copies)
	}
	fmt.Fprintln(w)
	for _, cause := range slices.SortedFunc(maps.Keys(c.ByCause), c.byPackets) {
		fmt.Fprintf(w, "            %6d %s\n", c.ByCause[cause], cause)
	}
}

func (c *Counts) byPackets(a, b Cause) int {
	return cmp.Or(cmp.Compare(c.ByCause[b], c.ByCause[a]), cmp.Compare(a, b))
}

func (r *Report) writeGaps(w io.Writer) {
	if len(r.Gaps) == 0 {
		fmt.Fprintln(w, "\nNo gaps.")
		return
	}
	title := "\nLost for good, or late\n"
	for _, g := range r.Gaps {
		if g.harmful() {
			fmt.Fprint(w, title)
			title = ""
			g.write(w)
		}
	}
	title = "\nRepaired, or harmless\n"
	shown, left := 0, r.Omitted
	for _, g := range r.Gaps {
		if g.harmful() {
			continue
		}
		if shown++; shown > shownRepaired {
			left++
			continue
		}
		fmt.Fprint(w, title)
		title = ""
		g.write(w)
	}
	if left > 0 {
		fmt.Fprintf(w, "  and %s more\n", many(left, "gap"))
	}
}

// harmful gaps are told all, and first.
func (g *Gap) harmful() bool { return g.Lost > 0 || g.Cause == LateDelivery || g.Cause == Outage }

func (g *Gap) write(w io.Writer) {
	what := fmt.Sprint(g.First)
	if g.Packets > 1 {
		what = fmt.Sprintf("%d..%d", g.First, g.Last)
	}
	mark := " "
	if g.Lost > 0 {
		mark = "!"
	}
	direction := "received"
	if g.Sent {
		direction = "sent"
	}
	fmt.Fprintf(w, "%s %s  %-8s %-19s %s\n", mark, g.Found.UTC().Format(clock), direction, g.Cause, what)
	for line := range wrap(g.Text, 92) {
		fmt.Fprintf(w, "      %s\n", line)
	}
}

// wrap yields text in lines of at most n characters, broken at spaces.
func wrap(text string, n int) func(func(string) bool) {
	return func(yield func(string) bool) {
		line := ""
		for _, word := range strings.Fields(text) {
			if line != "" && len(line)+1+len(word) > n {
				if !yield(line) {
					return
				}
				line = ""
			}
			line = strings.TrimSpace(line + " " + word)
		}
		if line != "" {
			yield(line)
		}
	}
}
