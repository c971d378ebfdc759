package report

import (
	"io"
	"os"
	"path/filepath"

	"github.com/weirline/weirline/tests/lab/svg"
)

// Charts writes the charts into dir and returns their names.
func (r *Result) Charts(dir string) (names []string, err error) {
	for _, p := range r.profiles() {
		var cpu, rss, delay []svg.Bar
		for _, x := range r.Rows {
			if x.Profile != p || x.Counted == 0 {
				continue
			}
			ours := x.Impl == Weirline
			cpu = append(cpu, svg.Bar{Label: x.Impl, Value: x.PerGbit, Ours: ours})
			rss = append(rss, svg.Bar{Label: x.Impl, Value: x.RSSSendMiB + x.RSSRecvMiB, Ours: ours})
			if x.P99 > -1 && x.Delivered > 0 && !floor(x.Impl) {
				delay = append(delay, svg.Bar{Label: x.Impl, Value: max(0, x.P99), Ours: ours})
			}
		}
		for _, c := range []struct {
			name, title, unit string
			bars              []svg.Bar
		}{
			{p + "-cpu.svg", p + ": CPU of both processes", "CPU seconds per delivered Gbit", cpu},
			{p + "-memory.svg", p + ": memory of both processes", "MiB, sum of the peaks", rss},
			{p + "-delay.svg", p + ": delay over the latency", "ms, 99th percentile", delay},
		} {
			if len(c.bars) == 0 {
				continue
			}
			names = append(names, c.name)
			if err := draw(filepath.Join(dir, c.name), func(w io.Writer) error { return svg.Bars(w, c.title, c.unit, c.bars) }); err != nil {
				return names, err
			}
		}
	}
	return r.searches(dir, names)
}

// searches draws the scenarios that have steps.
func (r *Result) searches(dir string, names []string) ([]string, error) {
	for _, f := range r.Findings {
		if len(f.Points) == 0 {
			continue
		}
		line := svg.Line{Label: "cores"}
		for _, p := range f.Points {
			line.Points = append(line.Points, svg.Point{X: p.X, Y: p.Y})
		}
		name := f.Scenario + ".svg"
		names = append(names, name)
		if err := draw(filepath.Join(dir, name), func(w io.Writer) error {
			return svg.Lines(w, f.Scenario, "load", "cores used", []svg.Line{line})
		}); err != nil {
			return names, err
		}
	}
	return names, nil
}

func (r *Result) profiles() (out []string) {
	seen := map[string]bool{}
	for _, x := range r.Rows {
		if !seen[x.Profile] {
			seen[x.Profile] = true
			out = append(out, x.Profile)
		}
	}
	return out
}

func draw(path string, f func(io.Writer) error) error {
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	return f(w)
}
