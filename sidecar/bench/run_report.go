package bench

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// ran is the JSON line of a run; got is null against a server of the user's.
type ran struct {
	Role     string         `json:"role"`
	Profile  string         `json:"profile"`
	Target   string         `json:"target,omitempty"`
	Complete bool           `json:"complete"`
	Send     map[string]any `json:"send"`
	Recv     map[string]any `json:"recv"`
}

// reportRun prints the table and the line, and returns the exit code: 0 when
// everything was delivered and verified, or, against a server of the user's,
// acknowledged.
func reportRun(out io.Writer, l load, o RunOptions, sent, got map[string]any) int {
	r := ran{Role: "run", Profile: l.name, Target: o.Target, Complete: complete(sent, got), Send: sent, Recv: got}
	tw := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\t%s\n", l.name, l.text)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(tw, "%s\t"+format+"\n", append([]any{name}, args...)...)
	}
	row("sent", "%.0f messages, %.1f Mbit/s", num(sent, "sent_msgs"), num(sent, "mbps"))
	if got != nil {
		row("delivered", "%.0f messages, %.3f %%, content verified: %.0f missing, %.0f twice, %.0f corrupt",
			num(got, "msgs"), 100*num(got, "delivered_bytes")/max(1, num(sent, "offered_bytes")), num(got, "gaps"), num(got, "dup_or_reorder"), num(got, "corrupt"))
		row("delay", "p50 %.1f, p99 %.1f, p99.9 %.1f, max %.1f ms", num(got, "lat_p50_ms"), num(got, "lat_p99_ms"), num(got, "lat_p999_ms"), num(got, "lat_max_ms"))
	} else {
		row("unacknowledged", "%.0f messages at the end", num(sent, "undrained"))
	}
	row("retransmitted", "%.0f packets of %.0f sent", num(sent, "pktRetrans"), num(sent, "pktSent"))
	gbit := num(sent, "sent_bytes") * 8 / 1e9
	row("CPU", "sender %.2f s, receiver %.2f s, %.4f s/Gbit", num(sent, "run_cpu_s"), num(got, "run_cpu_s"), (num(sent, "run_cpu_s")+num(got, "run_cpu_s"))/max(gbit, 1e-9))
	row("memory", "sender %.1f MiB, receiver %.1f MiB", num(sent, "peak_rss_kb")/1024, num(got, "peak_rss_kb")/1024)
	row("threads", "sender %.0f, receiver %.0f", num(sent, "peak_threads"), num(got, "peak_threads"))
	tw.Flush()
	printLine(out, r)
	if !r.Complete {
		return 1
	}
	return 0
}

func complete(sent, got map[string]any) bool {
	if got == nil {
		return num(sent, "sent_bytes") == num(sent, "offered_bytes") && num(sent, "undrained") == 0
	}
	return num(got, "delivered_bytes") == num(sent, "offered_bytes") &&
		num(got, "gaps")+num(got, "dup_or_reorder")+num(got, "corrupt") == 0
}

func num(m map[string]any, key string) float64 {
	v, _ := m[key].(float64)
	return v
}
