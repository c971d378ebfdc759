package law

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// checkDocs wants the doc comment of every package to say what lives there,
// what it may import, and what never comes in.
func checkDocs(tr *tree) (out []string) {
	docs := map[string]string{}
	for _, s := range tr.files {
		if strings.HasSuffix(s.file.Name.Name, "_test") || under(s.dir, "examples") {
			continue
		}
		docs[s.dir] += ""
		if s.file.Doc != nil {
			docs[s.dir] += strings.ToLower(s.file.Doc.Text())
		}
	}
	for dir, doc := range docs {
		for _, want := range []string{"lives here", "may import", "never"} {
			if !strings.Contains(strings.Join(strings.Fields(doc), " "), want) {
				out = append(out, fmt.Sprintf("%s: the package comment does not say %q: a reader must learn the walls of a room at its door", dir, want))
			}
		}
	}
	sort.Strings(out)
	return out
}

func checkFormat(tr *tree) (out []string) {
	for _, s := range tr.files {
		want, err := format.Source(s.text)
		if err != nil || !bytes.Equal(want, s.text) {
			out = append(out, s.path+": not formatted; run gofmt -w on it")
		}
	}
	return out
}

// later matches notes of unfinished work; the words are split so that this file
// does not find itself.
var later = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HA` + `CK)\b`)

// texts are the kinds of files a person writes here.
var texts = map[string]bool{".go": true, ".c": true, ".h": true, ".md": true, ".sh": true, ".s": true, ".mk": true, "": true}

func checkLater(root string) (out []string, err error) {
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		if d.IsDir() {
			return skipDir(filepath.ToSlash(rel), d.Name())
		}
		if !d.Type().IsRegular() || !texts[filepath.Ext(p)] {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if w := later.FindString(line); w != "" {
				out = append(out, fmt.Sprintf("%s:%d: %s: finish it, or file it where work is kept", rel, i+1, w))
			}
		}
		return nil
	})
	return out, err
}

func TestEveryPackageSaysItsWalls(t *testing.T) { report(t, checkDocs(loadTree(t))) }

func TestEverythingIsFormatted(t *testing.T) { report(t, checkFormat(loadTree(t))) }

func TestNothingIsLeftForLater(t *testing.T) {
	out, err := checkLater(loadTree(t).root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, out)
}

func TestTextChecksCatchOffenders(t *testing.T) {
	tr := mustTree(t, map[string]string{
		"a/a.go":      "// Package a is here.\n//\n// Lives here: a. May\n// import: b. Never: c.\npackage a\n",
		"b/b.go":      "// Package b is here.\npackage b\nvar  x int\n",
		"b/b_test.go": "// Lives here: may import, never.\npackage b_test\n",
	})
	wantComplaints(t, checkDocs(tr), `b: .*lives here`, `b: .*may import`, `b: .*never`)
	wantComplaints(t, checkFormat(tr), `b/b.go`)

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.c"), []byte("int x; // FIX"+"ME later\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := checkLater(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantComplaints(t, out, `x.c:1: FIX`+`ME`)
}
