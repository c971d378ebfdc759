package srtcore

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "rewrite docs/options.md from the table of options")

func TestOptionsDoc(t *testing.T) {
	path := filepath.Join("..", "docs", "options.md")
	want := optionsDoc()
	if *updateDocs {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date; run: go test ./srtcore -run OptionsDoc -update", path)
	}
}

const optionsDocHead = `# Options

Generated from the table in ` + "`srtcore/options.go`" + `; to change it, change the table and run
` + "`go test ./srtcore -run OptionsDoc -update`" + `.

` + "`srtcore.ParseURL`" + ` reads ` + "`srt://host:port?key=value&key=value`" + ` with these keys; ` + "`srtcore.Config`" + ` has
the fields. Keys and units are those of srt-live-transmit.

* A time without a suffix counts in the unit named below; the suffixes us, ms, s and m (minutes) are taken, and
  decimals: ` + "`latency=200`, `latency=200ms`, `latency=0.2s`" + `.
* Bytes, bytes per second and packets take K, M, G (1000, 1000^2, 1000^3) and Ki, Mi, Gi (1024 ...); bytes also with
  a B behind: ` + "`maxbw=10M`" + ` is 10,000,000 bytes per second. Bits are refused.
* Truth values are 1/0, true/false, yes/no, on/off.
* Without ` + "`mode`" + `, an empty host means listener and any other caller. A host together with ` + "`adapter`" + ` or an address
  in ` + "`bind`" + ` needs a mode. A listener binds to the host, which may also be given as ` + "`adapter`" + `.
* Values are percent-decoded exactly once. A plus is a plus. A raw # is part of the value; only & (%26) and % (%25)
  must be encoded. A % that starts no code is an error.
* Unknown keys, and one key twice with different values, are errors.

| Key | Also | Field of Config | libsrt | Unit | Allowed | Default | Meaning |
|---|---|---|---|---|---|---|---|
`

func optionsDoc() string {
	var b strings.Builder
	b.WriteString(optionsDocHead)
	dflt := DefaultConfig()
	for i := range options {
		o := &options[i]
		if o.kind == kindGo {
			continue
		}
		allowed := o.allowedText()
		if allowed == "" {
			allowed = "any"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
			o.key, strings.Join(o.aliases, ", "), o.field, o.srto, o.kind.unit(), allowed, bareDefault(o, &dflt), o.doc)
	}
	b.WriteString("\nNot supported yet, and refused as such: " + strings.Join(notYet, ", ") + ", mode=rendezvous, transtype=file.\n")
	b.WriteString("\nIn Go only:\n\n| Field of Config | Default | Meaning |\n|---|---|---|\n")
	for i := range options {
		if o := &options[i]; o.kind == kindGo {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", o.field, o.dflt, o.doc)
		}
	}
	return b.String()
}

// bareDefault is the default in the option's unit, without the unit.
func bareDefault(o *option, dflt *Config) string {
	switch {
	case o.dflt != "":
		return o.dflt
	case o.kind.isText():
		return "none"
	case o.kind == kindBool || o.kind == kindVersion:
		return o.value(dflt)
	}
	return fmt.Sprint(o.number(dflt) / o.kind.base())
}
