package law

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

const (
	mapFile   = "docs/ARCHITECTURE.md"
	decisions = "docs/decisions"
)

// mapped reads the list of folders, the first block of the page: a folder of the
// top, and indented below it its own, with those of the next level in the text.
func mapped(doc string) map[string]bool {
	out := map[string]bool{}
	_, rest, _ := strings.Cut(doc, "\n```\n")
	list, _, _ := strings.Cut(rest, "\n```")
	top := ""
	for line := range strings.Lines(list) {
		above := top
		names, text, _ := strings.Cut(strings.TrimSpace(line), "  ")
		for name := range strings.SplitSeq(names, ", ") {
			dir := path.Clean(name)
			if strings.HasPrefix(line, " ") {
				dir = path.Join(top, name)
			} else {
				top = dir
			}
			out[dir], above = true, dir
		}
		for _, word := range strings.Fields(text) {
			if name, ok := strings.CutSuffix(strings.TrimRight(word, ",;:"), "/"); ok {
				out[path.Join(above, name)] = true
			}
		}
	}
	return out
}

// checkMap wants every package in the list of folders, and every folder of the
// list to be there.
func checkMap(doc string, packages map[string]bool, isDir func(string) bool) (out []string) {
	list := mapped(doc)
	for dir := range packages {
		if !list[dir] {
			out = append(out, fmt.Sprintf("%s: not in the list of folders in %s: say there what it is for", dir, mapFile))
		}
	}
	for dir := range list {
		if !packages[dir] && !isDir(dir) {
			out = append(out, fmt.Sprintf("%s: named in the list of folders in %s, but is not there", dir, mapFile))
		}
	}
	sort.Strings(out)
	return out
}

// checkDecisions wants the pages numbered without gap, and a link to each.
func checkDecisions(doc string, pages []string) (out []string) {
	sort.Strings(pages)
	for i, p := range pages {
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(p, want) {
			out = append(out, fmt.Sprintf("%s/%s: the next number is %s", decisions, p, strings.TrimSuffix(want, "-")))
		}
		if !strings.Contains(doc, "(decisions/"+p+")") {
			out = append(out, fmt.Sprintf("%s/%s: %s has no link to it: nobody will find it", decisions, p, mapFile))
		}
	}
	return out
}

func TestTheMapIsTrue(t *testing.T) {
	tr := loadTree(t)
	doc, err := os.ReadFile(filepath.Join(tr.root, mapFile))
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for _, s := range tr.files {
		if !underAny(s.dir, "examples", "docs") {
			packages[s.dir] = true
		}
	}
	report(t, checkMap(string(doc), packages, func(dir string) bool {
		st, err := os.Stat(filepath.Join(tr.root, dir))
		return err == nil && st.IsDir()
	}))
	entries, err := os.ReadDir(filepath.Join(tr.root, decisions))
	if err != nil {
		t.Fatal(err)
	}
	var pages []string
	for _, e := range entries {
		pages = append(pages, e.Name())
	}
	report(t, checkDecisions(string(doc), pages))
}

func TestMapChecksCatchOffenders(t *testing.T) {
	doc := "# Page\n```\na/        the first\n  b/, c/    two\n  d/        e/ f/: its own\n  gone/     away\n```\n(decisions/0001-x.md)\n"
	packages := map[string]bool{"a": true, "a/b": true, "a/c": true, "a/d/e": true, "a/d/f": true, "a/new": true}
	got := checkMap(doc, packages, func(dir string) bool { return dir == "a/d" })
	wantComplaints(t, got, `a/gone: named`, `a/new: not in the list`)
	wantComplaints(t, checkDecisions(doc, []string{"0003-z.md", "0001-x.md"}), `0003-z.md: the next number is 0002`, `0003-z.md: .* no link`)
}
