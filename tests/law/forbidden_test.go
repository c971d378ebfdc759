package law

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
	"testing"
)

// clockCalls are the functions of package time that read a clock or wait.
var clockCalls = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

// timeless are the folders that get the time handed in.
var timeless = []string{
	"srtcore/seq", "srtcore/wire", "srtcore/internal/mono", "srtcore/internal/dgram",
	"srtcore/internal/crypt", "srtcore/internal/engine", "srtcore/internal/udp", "srtcore/internal/sim",
	"sidecar/mpegts", "sidecar/hub",
}

// checkClock finds clock readers where the time is an argument.
func checkClock(tr *tree) (out []string) {
	for _, s := range tr.files {
		if s.test || !slices.Contains(timeless, s.dir) {
			continue
		}
		for _, c := range calls(s, "time", clockCalls) {
			out = append(out, fmt.Sprintf("%s: %s: one now per wake, read in loop and handed in; otherwise no run can be replayed",
				tr.at(c.Pos()), exprName(c)))
		}
	}
	return out
}

// calls finds uses of pkg.name for the given names, under whatever name the
// file imported pkg.
func calls(s *source, pkg string, names []string) (out []*ast.SelectorExpr) {
	local := importName(s, pkg)
	if local == "" {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == local && slices.Contains(names, sel.Sel.Name) {
			out = append(out, sel)
		}
		return true
	})
	return out
}

// importName returns the name under which the file knows pkg; empty if not.
func importName(s *source, pkg string) string {
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return pkg
	}
	return ""
}

func exprName(s *ast.SelectorExpr) string {
	if id, ok := s.X.(*ast.Ident); ok {
		return id.Name + "." + s.Sel.Name
	}
	return s.Sel.Name
}

// checkGo finds goroutines started in srtcore outside internal/loop.
func checkGo(tr *tree) (out []string) {
	for _, s := range tr.files {
		if s.test || !under(s.dir, "srtcore") || s.dir == "srtcore/internal/loop" {
			continue
		}
		for _, g := range starts(s) {
			if g.how == "AfterFunc" {
				continue // no goroutine until it fires; the list below has it
			}
			out = append(out, fmt.Sprintf("%s: goroutine in %s: in srtcore they live in internal/loop only, where they can be counted and ended",
				tr.at(g.pos), g.fn))
		}
	}
	return out
}

func TestTimeIsHandedIn(t *testing.T) { report(t, checkClock(loadTree(t))) }

func TestGoroutinesOfTheCoreLiveInTheLoop(t *testing.T) { report(t, checkGo(loadTree(t))) }

func TestForbiddenCallsAreCaught(t *testing.T) {
	tr := mustTree(t, map[string]string{
		"srtcore/internal/engine/a.go":      "package engine\nimport \"time\"\nvar x = time.Now\nvar y time.Duration = time.Second",
		"srtcore/internal/engine/b.go":      "package engine\nimport clock \"time\"\nfunc f() { clock.Sleep(1) }",
		"srtcore/internal/engine/c_test.go": "package engine\nimport \"time\"\nvar z = time.Now()",
		"srtcore/internal/loop/a.go":        "package loop\nimport \"time\"\nfunc f() { go f(); time.Now() }",
		"srtcore/dial.go":                   "package srtcore\nimport \"sync\"\nfunc f() { var w sync.WaitGroup; w.Go(f); go f() }",
	})
	wantComplaints(t, checkClock(tr), `a.go.*time.Now`, `b.go.*clock.Sleep`)
	wantComplaints(t, checkGo(tr), `dial.go:3:\d+: goroutine in f`, `dial.go:3`)
}
