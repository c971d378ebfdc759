package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/lab/proc"
	"github.com/weirline/weirline/tests/lab/profile"
)

func labRuns() Runs {
	rs := runs()
	for round := range 3 {
		rs = append(rs,
			Run{Impl: profile.Gosrt, Round: round, Recv: side(5, 16000, 6), Send: side(5, 16000, 6)},
			Run{Impl: profile.RawGSO, Round: round, Recv: side(.5, 2000, 1), Send: side(.5, 2000, 1)})
	}
	for i := range rs {
		rs[i].Recv.Mbps, rs[i].Recv.P99 = 320, 20.8
		if rs[i].Impl == Weirline {
			rs[i].Recv.TotalCPU, rs[i].Send.TotalCPU = rs[i].Recv.TotalCPU/2, rs[i].Send.TotalCPU/2
			rs[i].Recv.PeakRSSKB, rs[i].Send.PeakRSSKB = 9000, 9000
		}
	}
	return rs
}

func bad(js []Judged) (out []string) {
	for _, j := range js {
		if !j.OK {
			out = append(out, j.what()+" "+j.Note)
		}
	}
	return out
}

func TestLabBars(t *testing.T) {
	p, err := profile.Get("P2")
	if err != nil {
		t.Fatal(err)
	}
	if f := bad(JudgeLab(labRuns(), p)); f != nil {
		t.Fatalf("good runs fail: %q", f)
	}
	for name, c := range map[string]struct {
		want  string
		spoil func(*Run)
	}{
		"loss":    {"every message", func(r *Run) { r.Recv.DeliveredBytes-- }},
		"dear":    {"of libsrt", func(r *Run) { r.Send.TotalCPU *= 10 }},
		"fat":     {"peak RSS", func(r *Run) { r.Send.PeakRSSKB = 60000 }},
		"late":    {"p99", func(r *Run) { r.Recv.P99 = 21.2 }},
		"threads": {"threads", func(r *Run) { r.Send.PeakThreads = 9 }},
		"corrupt": {"no run of weirline counts", func(r *Run) { r.Recv.Corrupt = 1 }},
		"void":    {"all runs void", func(r *Run) { r.Void = "uneven" }},
		"failed":  {"every message", func(r *Run) { r.Failed = "exit 2" }},
	} {
		rs := labRuns()
		for i := range rs {
			if rs[i].Impl == Weirline {
				c.spoil(&rs[i])
			}
		}
		if f := strings.Join(bad(JudgeLab(rs, p)), "\n"); !strings.Contains(f, c.want) {
			t.Errorf("%s: complaints %q, want one with %q", name, f, c.want)
		}
	}
	if f := bad(JudgeLab(nil, p)); len(f) != len(p.Lab.Bars) {
		t.Errorf("no runs at all: %q", f)
	}
}

func TestAVoidRunIsNoPair(t *testing.T) {
	rs := labRuns()
	rs[0].Void = "uneven source"
	if n := len(rs.Pairs(Weirline, Libsrt, Run.CPU)); n != 2 {
		t.Errorf("%d pairs, want 2", n)
	}
	if tr := Troubles(rs, "P2"); len(tr) != 1 || !strings.Contains(tr[0], "uneven source") {
		t.Errorf("troubles %q", tr)
	}
}

func TestEveryBarHasAFigure(t *testing.T) {
	for _, p := range profile.All() {
		var rs Runs
		for _, impl := range append([]string{Weirline}, p.Lab.Peers...) {
			r := Run{Impl: impl, Recv: side(1, 20000, 7), Send: side(1, 20000, 7)}
			r.Recv.IdleKB, r.Recv.Mbps, r.Send.Retrans = 1000, 5000, 10
			rs = append(rs, r)
		}
		for _, j := range JudgeLab(rs, p) {
			if j.measured() == "none" {
				t.Errorf("%s: %s has no value: %s", p.Name, j.what(), j.Note)
			}
		}
	}
}

func result(t *testing.T) *Result {
	t.Helper()
	p, err := profile.Get("P2")
	if err != nil {
		t.Fatal(err)
	}
	rs := labRuns()
	return &Result{
		Plan: "lab", Began: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Machine: proc.Machine{CPU: "Some CPU", Cores: 2, Kernel: "6.1"},
		Programs: []Program{{"libsrt", "1.5.1", "abc"}}, Bars: JudgeLab(rs, p),
		Rows:     Rows(rs, p, []string{Weirline, Libsrt, Shared, profile.Gosrt, profile.RawGSO}),
		Findings: []Finding{{Scenario: "fanout", Text: "many", Points: []Point{{100, .5, true}}}},
		Method:   []string{"in pairs"}, Troubles: []string{"P2, libsrt, round 1 failed: it did"},
	}
}

func TestReportsHoldWhatWasFound(t *testing.T) {
	r := result(t)
	var b bytes.Buffer
	if err := r.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	table := r.ReadmeTable("x.json")
	for _, want := range []string{"Some CPU", "6.1", "libsrt-shared", "raw-gso"} {
		if !strings.Contains(b.String(), want) || !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s\n%s", want, b.String(), table)
		}
	}
	for _, want := range []string{"it did", "in pairs", "abc", "0.0625"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if !r.Passed() {
		t.Error("a good result does not pass")
	}
	if r.Partial = "interrupted"; r.Passed() {
		t.Error("a partial result passes")
	}
}

func TestResultAndChartsAreWritten(t *testing.T) {
	dir, r := t.TempDir(), result(t)
	names, err := r.Charts(dir)
	if err != nil || len(names) != 4 {
		t.Fatalf("%q, %v", names, err)
	}
	if err := r.Save(filepath.Join(dir, "2026.json")); err != nil {
		t.Fatal(err)
	}
	again, file, err := Committed(dir)
	if err != nil || file != "2026.json" || again.ReadmeTable(file) != r.ReadmeTable(file) {
		t.Errorf("%q, %v", file, err)
	}
}

func TestReadmeIsReplacedBetweenItsMarks(t *testing.T) {
	text := "a\n" + markBegin + "\nold\n" + markEnd + "\nz\n"
	out, err := Readme(text, nil, "")
	if err != nil || out != "a\n"+markBegin+"\n"+NoResult+"\n"+markEnd+"\nz\n" {
		t.Errorf("%q, %v", out, err)
	}
	if _, err := Readme("no marks", nil, ""); err == nil {
		t.Error("no error without marks")
	}
}

func TestReadmeIsInStep(t *testing.T) {
	r, file, err := Committed("../results")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Readme(string(text), r, file)
	if err != nil {
		t.Fatal(err)
	}
	if want != string(text) {
		t.Error("README.md does not show the newest result of tests/lab/results; run: go run ./tests/lab/suite -readme")
	}
}
