package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The marks between which the README's table stands.
const (
	markBegin = "<!-- measured: begin (from a committed result file) -->"
	markEnd   = "<!-- measured: end -->"
)

// NoResult stands there while no result is committed.
const NoResult = "The table of the reference run stands here."

// Committed returns the newest result file of a folder; nil if there is none.
func Committed(dir string) (*Result, string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		return nil, "", err
	}
	slices.Sort(files) // their names begin with the date
	path := files[len(files)-1]
	r, err := Load(path)
	return r, filepath.Base(path), err
}

// Readme returns text with the table of r between the marks.
func Readme(text string, r *Result, file string) (string, error) {
	before, rest, ok := strings.Cut(text, markBegin)
	_, after, ok2 := strings.Cut(rest, markEnd)
	if !ok || !ok2 {
		return "", errors.New("the marks of the measured table are not in the text")
	}
	table := NoResult
	if r != nil {
		table = r.ReadmeTable(file)
	}
	return before + markBegin + "\n" + strings.TrimRight(table, "\n") + "\n" + markEnd + after, nil
}

// ReadmeTable is the short table: weirline beside its peers on each profile, and
// the bars that are about something else.
func (r *Result) ReadmeTable(file string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s with `make %s` (%s); %s\n\n", r.Began.UTC().Format("2006-01-02"), r.Plan, r.where(), r.versions())
	if r.Partial != "" {
		fmt.Fprintf(&b, "Partial: %s.\n\n", r.Partial)
	}
	b.WriteString("| profile | program | delivered | CPU-s/Gbit | weirline's CPU of it | memory, MiB | threads | p99 over latency, ms |\n|---|---|---|---|---|---|---|---|\n")
	for _, x := range r.Rows {
		if x.Counted == 0 {
			continue
		}
		share := ""
		if x.Impl != Weirline && x.OfPeer > 0 {
			share = short(x.OfPeer)
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f %% | %s | %s | %.0f | %.0f + %.0f | %s |\n", x.Profile, x.Impl, 100*x.Delivered, short(x.PerGbit), share,
			x.RSSSendMiB+x.RSSRecvMiB, x.ThreadsSend, x.ThreadsRecv, x.delay())
	}
	b.WriteString("\n")
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "- %s: %s\n", f.Scenario, f.Text)
	}
	met := 0
	for _, j := range r.Bars {
		if j.OK {
			met++
		}
	}
	fmt.Fprintf(&b, "\n%d of %d bars reached; all figures, settings and checksums: [%s](tests/lab/results/%s).\n", met, len(r.Bars), file, file)
	return b.String()
}

// floor reports whether an implementation is a floor, which has no delays.
func floor(impl string) bool { return strings.HasPrefix(impl, "raw-") }

func (x Row) delay() string {
	if floor(x.Impl) {
		return ""
	}
	return fmt.Sprintf("%.1f", x.P99)
}

func (r *Result) versions() string {
	var out []string
	for _, p := range r.Programs {
		if p.Version != "" {
			out = append(out, p.Name+" "+p.Version)
		}
	}
	return strings.Join(out, ", ") + "."
}

// WriteReadme brings the README at path into step with the newest result of dir.
func WriteReadme(path, dir string) error {
	r, file, err := Committed(dir)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	out, err := Readme(string(text), r, file)
	if err != nil || out == string(text) {
		return err
	}
	return os.WriteFile(path, []byte(out), 0o644)
}
