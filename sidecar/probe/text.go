package probe

import (
	"bufio"
	"fmt"
	"io"
)

// WriteText writes the report for people.
func (r *Report) WriteText(out io.Writer) error {
	w := bufio.NewWriter(out)
	way := "received"
	if r.Sender {
		way = "sent"
	}
	fmt.Fprintf(w, "Link        %s\n", r.Connection)
	fmt.Fprintf(w, "Measured    %.1f s, %d packets %s, %.2f Mbit/s on the wire, %.2f delivered, with a latency of %.0f ms\n",
		r.Seconds, r.Packets, way, r.Mbps, r.DeliveredMbps, r.LatencyMs)
	if r.RTT.Samples > 0 {
		fmt.Fprintf(w, "Round trip  %.1f ms (median; least %.1f, 95 %% below %.1f, most %.1f)\n", r.RTT.Median, r.RTT.Min, r.RTT.P95, r.RTT.Max)
		fmt.Fprintf(w, "Jitter      %.1f ms\n", r.JitterMs)
	}
	if r.hasTraffic {
		fmt.Fprintf(w, "Loss        %.2f %% at the first sending, longest gap %d packets", 100*r.Loss, r.LongestGap)
		if r.LossAgain > 0 {
			fmt.Fprintf(w, ", %.1f %% of the lost ones more than once", 100*r.LossAgain)
		}
		fmt.Fprintf(w, "; %d sent again, %d lost for good", r.Resent, r.Lost)
		if !r.Sender {
			fmt.Fprintf(w, ", %d out of order", r.Reordered)
		}
		fmt.Fprintln(w)
	}
	for _, c := range r.Sizes {
		fmt.Fprintf(w, "            %5d bytes: %d of %d lost\n", c.Bytes, c.Lost, c.Sent)
	}
	switch {
	case r.DriftError > 0 && 3*r.DriftError <= roughDrift:
		fmt.Fprintf(w, "Clocks      the peer's runs %+.1f ppm (+-%.1f)\n", r.Drift, 3*r.DriftError)
	case r.hasTraffic && r.DriftError > 0:
		fmt.Fprintln(w, "Clocks      not measured: too much jitter for so short a time; --secs 30 shows more")
	case r.hasTraffic:
		fmt.Fprintf(w, "Clocks      not measured: it takes %.0f s of a steady stream\n", minDriftTime.Seconds())
	}
	fmt.Fprintln(w, "\nAdvice")
	for _, a := range r.Advice.Texts {
		for i, line := range wrap(a, 94) {
			mark := "  "
			if i == 0 {
				mark = "- "
			}
			fmt.Fprintf(w, "  %s%s\n", mark, line)
		}
	}
	return w.Flush()
}

// wrap breaks text at spaces into lines of at most n characters.
func wrap(text string, n int) (lines []string) {
	for len(text) > n {
		at := n
		for at > 0 && text[at] != ' ' {
			at--
		}
		if at == 0 {
			break
		}
		lines, text = append(lines, text[:at]), text[at+1:]
	}
	return append(lines, text)
}
