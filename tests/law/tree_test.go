package law

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/weirline/weirline"

// source is one Go file. Build constraints are ignored on purpose: the law
// holds for every operating system and architecture, not only for this one.
type source struct {
	path      string // slash-separated, relative to the root of the module
	dir       string
	text      []byte
	file      *ast.File
	test      bool
	generated bool
}

type tree struct {
	root  string
	fset  *token.FileSet
	files []*source
}

// imp is one import: the path as written, shortened to the folder for packages
// of this module.
type imp struct {
	path  string
	local bool
	pos   token.Pos
}

var loadOnce = sync.OnceValues(func() (*tree, error) { return load("../..") })

func loadTree(t *testing.T) *tree {
	t.Helper()
	tr, err := loadOnce()
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.files) == 0 {
		t.Fatal("no Go files found: the law would hold of nothing")
	}
	return tr
}

func load(root string) (*tree, error) {
	tr := &tree{root: root, fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel != "." && isModule(p) {
				return filepath.SkipDir // a module of its own is not this house
			}
			return skipDir(filepath.ToSlash(rel), d.Name())
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return tr.add(filepath.ToSlash(rel), text)
	})
	return tr, err
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func skipDir(rel, name string) error {
	if rel != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")) {
		return filepath.SkipDir
	}
	switch name {
	case "testdata", "vendor", "node_modules":
		return filepath.SkipDir
	}
	switch rel {
	case "bin", "out", "dist":
		return filepath.SkipDir
	}
	return nil
}

func (tr *tree) add(rel string, text []byte) error {
	f, err := parser.ParseFile(tr.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	tr.files = append(tr.files, &source{
		path: rel, dir: path.Dir(rel), text: text, file: f,
		test:      strings.HasSuffix(rel, "_test.go"),
		generated: ast.IsGenerated(f),
	})
	return nil
}

// mustTree builds a tree out of made-up files, so that the checks themselves
// can be tested.
func mustTree(t *testing.T, files map[string]string) *tree {
	t.Helper()
	tr := &tree{fset: token.NewFileSet()}
	for name, text := range files {
		if err := tr.add(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return tr
}

func (s *source) imports() []imp {
	var out []imp
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if p == module {
			p = module + "/."
		}
		rest, local := strings.CutPrefix(p, module+"/")
		out = append(out, imp{path: rest, local: local, pos: spec.Pos()})
	}
	return out
}

// under reports whether dir is folder or lies below it.
func under(dir, folder string) bool {
	return dir == folder || strings.HasPrefix(dir, folder+"/")
}

// underAny is under for several folders.
func underAny(dir string, folders ...string) bool {
	for _, f := range folders {
		if under(dir, f) {
			return true
		}
	}
	return false
}

// isTestCode reports whether the file is no part of what users run.
func (s *source) isTestCode() bool { return s.test || under(s.dir, "tests") }

func (tr *tree) at(pos token.Pos) string { return tr.fset.Position(pos).String() }

// report fails the test with one line for each complaint.
func report(t *testing.T, complaints []string) {
	t.Helper()
	for _, c := range complaints {
		t.Error(c)
	}
}

// wantComplaints checks a check: every pattern has a complaint and there is no
// complaint more.
func wantComplaints(t *testing.T, got []string, patterns ...string) {
	t.Helper()
	if len(got) != len(patterns) {
		t.Errorf("%d complaints, want %d:\n%s", len(got), len(patterns), strings.Join(got, "\n"))
	}
	for _, p := range patterns {
		re := regexp.MustCompile(p)
		found := false
		for _, c := range got {
			found = found || re.MatchString(c)
		}
		if !found {
			t.Errorf("no complaint matches %q in:\n%s", p, strings.Join(got, "\n"))
		}
	}
}
