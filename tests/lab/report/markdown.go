package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Markdown writes the whole report.
func (r *Result) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Measurements: %s\n\n", r.Plan)
	if r.Partial != "" {
		fmt.Fprintf(&b, "**Partial: %s. What follows is what was measured until then.**\n\n", r.Partial)
	}
	b.WriteString(r.where() + "\n\n")
	fmt.Fprintf(&b, "%s UTC, %.0f s.\n\n", r.Began.UTC().Format("2006-01-02 15:04"), r.Seconds)
	r.bars(&b)
	r.Alarms.markdown(&b)
	r.table(&b)
	r.findings(&b)
	list(&b, "Method", r.Method)
	list(&b, "Notes, runs that failed or do not count", r.Troubles)
	b.WriteString("## Programs\n\n| program | version | SHA-256 |\n|---|---|---|\n")
	for _, p := range r.Programs {
		fmt.Fprintf(&b, "| %s | %s | `%s` |\n", p.Name, p.Version, p.SHA256)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// where names the machine.
func (r *Result) where() string {
	m := r.Machine
	return fmt.Sprintf("%s, %d cores, %d MiB, %s, Linux %s, %s %s, commit %s.", m.CPU, m.Cores, m.MemMiB, m.OS, m.Kernel, m.Go, m.Arch, m.Commit)
}

func (r *Result) bars(b *strings.Builder) {
	b.WriteString("## Bars\n\n| | profile | figure | measured | bar | |\n|---|---|---|---|---|---|\n")
	for _, j := range r.Bars {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", verdict(j), j.Profile, j.what(), j.measured(), j.bar(), j.Note)
	}
	b.WriteString("\n")
}

func verdict(j Judged) string {
	if j.OK {
		return "pass"
	}
	return "**FAIL**"
}

func (j Judged) what() string {
	if j.Of == "" {
		return j.Figure
	}
	return j.Figure + ", of " + j.Of
}

func (j Judged) measured() string {
	if j.Missing {
		return "none"
	}
	return short(j.Value)
}

func (j Judged) bar() string {
	if j.AtLeast {
		return "at least " + short(j.Limit)
	}
	return "at most " + short(j.Limit)
}

// short writes three significant digits without an exponent.
func short(v float64) string {
	s := strconv.FormatFloat(v, 'g', 3, 64)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func (r *Result) table(b *strings.Builder) {
	b.WriteString("## Pairs\n\nMedians of the runs that count. CPU is user and system time of the whole process; delays are over the configured latency; the last column is weirline's CPU per Gbit as a share of the program's, median of the pairs.\n\n")
	b.WriteString("| profile | program | runs | delivered % | Mbit/s | CPU snd + rcv = both, s | CPU-s/Gbit | RSS snd + rcv, at once, MiB | threads | p50 / p99 / p99.9 / max, ms | retrans | switches | UDP errors | weirline of it |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, x := range r.Rows {
		fmt.Fprintf(b, "| %s | %s | %d/%d | %.2f | %.0f | %.2f + %.2f = %.2f | %s | %.0f + %.0f, %.0f | %.0f + %.0f | %.1f / %.1f / %.1f / %.1f | %.0f | %.0f | %.0f | %s |\n",
			x.Profile, x.Impl, x.Counted, x.Runs, 100*x.Delivered, x.Mbps, x.CPUSend, x.CPURecv, x.CPU, short(x.PerGbit),
			x.RSSSendMiB, x.RSSRecvMiB, x.SimultaneousMiB, x.ThreadsSend, x.ThreadsRecv, x.P50, x.P99, x.P999, x.Max,
			x.Retrans, x.Switches, x.UDP, short(x.OfPeer))
	}
	b.WriteString("\n")
}

func (r *Result) findings(b *strings.Builder) {
	for _, f := range r.Findings {
		fmt.Fprintf(b, "## %s\n\n%s\n\n", f.Scenario, f.Text)
		for _, l := range f.Lines {
			fmt.Fprintf(b, "- %s\n", l)
		}
		if len(f.Lines) > 0 {
			b.WriteString("\n")
		}
	}
}

func list(b *strings.Builder, title string, lines []string) {
	fmt.Fprintf(b, "## %s\n\n", title)
	if len(lines) == 0 {
		b.WriteString("None.\n")
	}
	for _, l := range lines {
		fmt.Fprintf(b, "- %s\n", l)
	}
	b.WriteString("\n")
}
