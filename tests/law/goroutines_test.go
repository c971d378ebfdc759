package law

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// start is a place where a goroutine begins.
type start struct {
	fn  string // enclosing function, Type.Method for methods
	how string // "go", "Go" (a WaitGroup or the like), "AfterFunc"
	pos token.Pos
}

// starts finds go statements, calls of functions and methods named Go (a
// WaitGroup's, the loop's own), and AfterFunc. The go statement inside a function
// or method named Go is the same start as the call.
func starts(s *source) (out []start) {
	for _, d := range s.file.Decls {
		name := declName(d)
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if name != "Go" && !strings.HasSuffix(name, ".Go") {
					out = append(out, start{name, "go", n.Pos()})
				}
			case *ast.CallExpr:
				if how := startsByName(s, n); how != "" {
					out = append(out, start{name, how, n.Pos()})
				}
			}
			return true
		})
	}
	return out
}

// startsByName returns Go or AfterFunc if the call is one of these.
func startsByName(s *source, call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		if f.Name == "Go" && len(call.Args) == 1 {
			return "Go"
		}
	case *ast.SelectorExpr:
		if f.Sel.Name == "Go" && len(call.Args) == 1 {
			return "Go"
		}
		id, ok := f.X.(*ast.Ident)
		if ok && f.Sel.Name == "AfterFunc" && (id.Name == importName(s, "time") || id.Name == importName(s, "context")) {
			return "AfterFunc"
		}
	}
	return ""
}

// declName names the function a declaration is: F, T.M, or "var" outside.
func declName(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok {
		return "var"
	}
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	return recvName(f.Recv.List[0].Type) + "." + f.Name.Name
}

func recvName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return recvName(e.X)
	case *ast.IndexExpr:
		return recvName(e.X)
	case *ast.IndexListExpr:
		return recvName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// listHead is the heading of the list in docs/ARCHITECTURE.md.
const listHead = "## Every goroutine"

// listed reads the rows "| `file` | `function` | what for | ends when |" below
// the heading, and counts them by file and function.
func listed(doc string) map[string]int {
	out := map[string]int{}
	_, rest, ok := strings.Cut(doc, listHead)
	if !ok {
		return out
	}
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 5 || !strings.HasSuffix(strings.Trim(cells[1], " `"), ".go") {
			continue
		}
		out[strings.Trim(cells[1], " `")+" "+strings.Trim(cells[2], " `")]++
	}
	return out
}

// found counts the goroutine starts of everything that is shipped.
func found(tr *tree) map[string]int {
	out := map[string]int{}
	for _, s := range tr.files {
		if s.isTestCode() || under(s.dir, "examples") {
			continue
		}
		for _, g := range starts(s) {
			out[s.path+" "+g.fn]++
		}
	}
	return out
}

func compareLists(doc, code map[string]int) (out []string) {
	for k, n := range code {
		if doc[k] < n {
			out = append(out, fmt.Sprintf("%s: starts %d goroutine(s), docs/ARCHITECTURE.md lists %d: say there what it is for and when it ends", k, n, doc[k]))
		}
	}
	for k, n := range doc {
		if code[k] < n {
			out = append(out, fmt.Sprintf("%s: docs/ARCHITECTURE.md lists %d goroutine(s), the code starts %d: the list must stay true", k, n, code[k]))
		}
	}
	sort.Strings(out)
	return out
}

func TestEveryGoroutineIsListed(t *testing.T) {
	tr := loadTree(t)
	doc, err := os.ReadFile(filepath.Join(tr.root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, compareLists(listed(string(doc)), found(tr)))
}

func TestGoroutineListIsCompared(t *testing.T) {
	tr := mustTree(t, map[string]string{
		"srtcore/internal/loop/shard.go": "package loop\nfunc (s *Shard[T]) start() { Go(s.run); go s.pump() }\nfunc Go(f func()) { go f() }\nfunc (s *Shard[T]) Go(f func()) { go f() }",
		"sidecar/hub/hub.go":             "package hub\nimport \"time\"\nvar x = time.AfterFunc(1, func() {})",
		"sidecar/hub/hub_test.go":        "package hub\nfunc f() { go f() }",
		"tests/lab/impair/relay.go":      "package impair\nfunc f() { go f() }",
	})
	doc := "intro\n" + listHead + "\n\n| file | function | for | ends |\n|---|---|---|---|\n" +
		"| `srtcore/internal/loop/shard.go` | `Shard.start` | the loop | Close |\n" +
		"| `sidecar/gone.go` | `run` | was | once |\n" +
		"## Next\n| `sidecar/hub/hub.go` | `var` | not here | no |\n"
	wantComplaints(t, compareLists(listed(doc), found(tr)),
		`shard.go Shard.start: starts 2`, `hub.go var: starts 1`, `gone.go run: .* lists 1`)
}
