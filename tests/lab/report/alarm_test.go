package report

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirline/weirline/tests/lab/proc"
)

func resultOf(cpu string, perGbit, mbps, rss float64) *Result {
	return &Result{Machine: proc.Machine{CPU: cpu, Cores: 2, Arch: "amd64"}, Rows: []Row{
		{Profile: "P2", Impl: Weirline, Counted: 3, PerGbit: perGbit, Mbps: mbps, RSSSendMiB: rss / 2, RSSRecvMiB: rss / 2},
		{Profile: "P2", Impl: Libsrt, Counted: 3, PerGbit: 99, Mbps: 1, RSSSendMiB: 1, RSSRecvMiB: 1},
		{Profile: "P4", Impl: Weirline},
	}}
}

func TestAlarmsAgainstTheNewestResultOfTheMachine(t *testing.T) {
	dir := t.TempDir()
	for name, r := range map[string]*Result{
		"2026-01-01-a.json": resultOf("a", 9, 320, 20), "2026-01-02-a.json": resultOf("a", 1, 320, 20),
		"2026-01-03-b.json": resultOf("b", .1, 320, 20),
	} {
		if err := r.Save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		cpu                string
		perGbit, mbps, rss float64
		raised             int
		want               string
	}{
		{"a", 1.14, 290, 22.9, 0, "0 of 3 figures beyond them, against 2026-01-02-a.json"},
		{"a", 1.16, 287, 23.1, 3, "3 of 3"},
		{"a", .5, 640, 10, 0, "0 of 3"},
		{"c", 1, 320, 20, 0, "no earlier result on this machine"},
	} {
		r := resultOf(c.cpu, c.perGbit, c.mbps, c.rss)
		if err := r.Alarm(dir); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.Markdown(&b); err != nil {
			t.Fatal(err)
		}
		if n := len(r.Alarms.Raised()); n != c.raised || !strings.Contains(b.String(), c.want) || strings.Count(b.String(), "**ALARM**") != c.raised {
			t.Errorf("%+v: %d raised, %s", c, n, r.Alarms.Summary())
		}
	}
}
