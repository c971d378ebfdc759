package report

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirline/weirline/tests/lab/profile"
)

// Alarm is one figure of weirline held against an earlier result of the same
// kind of machine.
type Alarm struct {
	Profile string  `json:"profile"`
	Figure  string  `json:"figure"`
	Was     float64 `json:"was"`
	Now     float64 `json:"now"`
	Worse   float64 `json:"worse"` // share; below 0: better
	Line    float64 `json:"line"`
	Raised  bool    `json:"raised"`
}

// Alarms are all of them and what they are held against.
type Alarms struct {
	Against string  `json:"against"` // file; empty: why there is none
	Why     string  `json:"why,omitempty"`
	Lines   []Alarm `json:"lines"`
}

// sameKind reports whether figures of two results can be held together.
func (r *Result) sameKind(o *Result) bool {
	a, b := r.Machine, o.Machine
	return a.CPU == b.CPU && a.Cores == b.Cores && a.Arch == b.Arch
}

// Alarm holds r against the newest result in dir from the same kind of machine.
func (r *Result) Alarm(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range slices.Backward(files) {
		was, err := Load(file)
		if err != nil {
			return err
		}
		if r.sameKind(was) {
			r.Alarms = Alarms{Against: filepath.Base(file), Lines: alarms(r, was)}
			return nil
		}
	}
	r.Alarms = Alarms{Why: "no earlier result on this machine"}
	return nil
}

func alarms(now, was *Result) (out []Alarm) {
	for _, n := range now.Rows {
		i := slices.IndexFunc(was.Rows, func(w Row) bool { return w.Profile == n.Profile && w.Impl == n.Impl })
		if n.Impl != Weirline || n.Counted == 0 || i < 0 || was.Rows[i].Counted == 0 {
			continue
		}
		w := was.Rows[i]
		add := func(figure string, was, now, worse, line float64) {
			if was > 0 {
				out = append(out, Alarm{n.Profile, figure, was, now, worse, line, worse > line})
			}
		}
		add("throughput, Mbit/s", w.Mbps, n.Mbps, 1-n.Mbps/w.Mbps, profile.AlarmThroughput)
		add("CPU-s/Gbit", w.PerGbit, n.PerGbit, n.PerGbit/w.PerGbit-1, profile.AlarmCPU)
		rssWas, rss := w.RSSSendMiB+w.RSSRecvMiB, n.RSSSendMiB+n.RSSRecvMiB
		add("RSS, MiB", rssWas, rss, rss/rssWas-1, profile.AlarmRSS)
	}
	return out
}

// Raised lists the alarms that went off.
func (a Alarms) Raised() (out []Alarm) {
	for _, x := range a.Lines {
		if x.Raised {
			out = append(out, x)
		}
	}
	return out
}

// String is the alarm in one line.
func (a Alarm) String() string {
	return fmt.Sprintf("%s %s: %s, was %s, %+.1f %% to the worse, alarm line %.0f %%", a.Profile, a.Figure, short(a.Now), short(a.Was), 100*a.Worse, 100*a.Line)
}

// Summary says in one line what became of the alarm lines.
func (a Alarms) Summary() string {
	switch {
	case a.Against == "":
		return "Alarm lines: " + orElse(a.Why, "not judged") + "."
	case len(a.Lines) == 0:
		return fmt.Sprintf("Alarm lines: %s has no figure that was measured now.", a.Against)
	}
	return fmt.Sprintf("Alarm lines: %d of %d figures beyond them, against %s of the same kind of machine.", len(a.Raised()), len(a.Lines), a.Against)
}

func (a Alarms) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "## Alarm lines\n\n%s Throughput %.0f %%, CPU per Gbit %.0f %%, RSS %.0f %%, of weirline against itself; the machine's other load is in it too.\n\n",
		a.Summary(), 100*profile.AlarmThroughput, 100*profile.AlarmCPU, 100*profile.AlarmRSS)
	if len(a.Lines) == 0 {
		return
	}
	b.WriteString("| | profile | figure | was | now | worse by |\n|---|---|---|---|---|---|\n")
	for _, x := range a.Lines {
		mark := ""
		if x.Raised {
			mark = "**ALARM**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %+.1f %% |\n", mark, x.Profile, x.Figure, short(x.Was), short(x.Now), 100*x.Worse)
	}
	b.WriteString("\n")
}
