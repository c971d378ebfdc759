package props

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateDoc = flag.Bool("update", false, "rewrite docs/gstreamer.md from the table")

// TestDoc wants the page about properties and URI options to be that of the table.
func TestDoc(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "gstreamer.md")
	want := doc()
	if *updateDoc {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date; run: go test ./gstplugin/props -run Doc -update", path)
	}
}

func doc() string {
	var b strings.Builder
	b.WriteString(`# Properties and URI options of srtgosrc and srtgosink

Generated from the table in ` + "`gstplugin/props`" + `; to change it, change the table and run
` + "`go test ./gstplugin/props -run Doc -update`" + `.

The URI is ` + "`srt://address:port?option=value&option=value`" + `; without an address the element listens. What has a name in the
column *URI* may be given there too; a property that was set wins. Times in the URI take the suffixes ms and s, sizes and
rates K, M and G. Values are percent-decoded once. An unknown option, or a value that cannot be meant, is a warning that names it.

## Properties

The names, types, ranges and defaults are those of srtsrc and srtsink; the last five are ours alone.

| Property | URI | Element | Type | Range | Default | Meaning |
|---|---|---|---|---|---|---|
`)
	for _, s := range Table()[:properties] {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", s.Name, strings.Join(s.Keys, ", "), sideName(s.On), s.Kind, rangeText(&s), defaultText(&s), s.Doc)
	}
	b.WriteString(`
## Options that only the URI sets

They go to the core as they are written; [options.md](options.md) tells more about them. What the core gains is usable before it has a row here.

| Option | Type | Range | Default | Meaning |
|---|---|---|---|---|
`)
	for _, s := range Table()[properties:] {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", s.Name, s.Kind, rangeText(&s), defaultText(&s), s.Doc)
	}
	return b.String()
}

func sideName(s Side) string {
	switch s {
	case Source:
		return "srtgosrc"
	case Sink:
		return "srtgosink"
	}
	return "both"
}

func rangeText(s *Spec) string {
	switch s.Kind {
	case String:
		return ""
	case Bool:
		return "true, false"
	case Enum:
		return s.Enum.nicks()
	}
	return fmt.Sprintf("%d..%d", s.Min, s.Max)
}

func defaultText(s *Spec) string {
	switch {
	case s.Kind == String && s.DefaultText == "":
		return "none"
	case s.Kind == String:
		return s.DefaultText
	case s.Kind == Enum:
		return s.Enum.Nick(s.Default)
	case s.Kind == Bool:
		return map[int64]string{0: "false", 1: "true"}[s.Default]
	}
	return fmt.Sprint(s.Default)
}
