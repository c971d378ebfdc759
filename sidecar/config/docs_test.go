package config

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var updateDocs = flag.Bool("update", false, "rewrite docs/config.md from the tables of keys")

// part is a section of docs/config.md.
type part struct {
	title, about string
	rows         []row
	of           reflect.Type
	parse        func(text string) Problems
}

func partOf[T any](title, about string, keys []key[T]) part {
	p := part{title: title, about: about, of: reflect.TypeFor[T]()}
	p.parse = func(text string) Problems {
		d := newDecoder("")
		var t T
		decodeMap(d, "", d.parse([]byte(text)), keys, &t)
		return d.problems
	}
	for _, k := range keys {
		p.rows = append(p.rows, k.row)
	}
	return p
}

func parts4docs() []part {
	return []part{
		partOf("The file", "", topKeys),
		partOf("control", "", controlKeys),
		partOf("log", "", logKeys),
		partOf("listeners[]", "What a stream id means, and in which order the rules are asked, stands [below](#callers-of-a-listener).", listenerKeys),
		partOf("listeners[].hook", "", hookKeys),
		partOf("listeners[].users[]", "", userKeys),
		partOf("routes[]", "", routeKeys),
		partOf("routes[].sources[]", "A URL, or a group of one of:", sourceKeys),
		partOf("routes[].outputs[]", "A URL, or a group of one of:", outputKeys),
		partOf("publish and play", "A stream of a listener. One route publishes it and one plays it, the same or another.", refKeys),
	}
}

func TestDocs(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "config.md")
	want := docs()
	if *updateDocs {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date; run: go test ./sidecar/config -run TestDocs -update", path)
	}
}

func docs() string {
	var b strings.Builder
	b.WriteString(docsHead)
	for _, v := range variables {
		what := "overrides `" + v.key + "`"
		if v.file {
			what = "names a file with the value of `" + v.key + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", v.name, what)
	}
	for _, p := range parts4docs() {
		fmt.Fprintf(&b, "\n## %s\n\n", p.title)
		if p.about != "" {
			b.WriteString(p.about + "\n\n")
		}
		b.WriteString("| Key | Value | Allowed | Default | Meaning | Example |\n|---|---|---|---|---|---|\n")
		for _, r := range p.rows {
			name, example := "`"+r.name+"`", ""
			if r.kind == kindSecret {
				name += ", `" + r.name + "-file`"
			}
			if r.example != "" {
				example = "`" + r.example + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", name, r.kind, r.allowed, r.dflt, r.meaning, example)
		}
	}
	b.WriteString(docsTail)
	return b.String()
}

const docsHead = `# Configuration

Generated from the tables in ` + "`sidecar/config/keys.go`" + `; to change it, change the tables and run
` + "`go test ./sidecar/config -run TestDocs -update`" + `.

` + "`weirline serve --config FILE`" + ` reads a YAML file of at most 1 MiB; ` + "`weirline check-config FILE`" + ` says whether it is right. What is
wrong is told all at once, with line, key and what is allowed, and a daemon that runs keeps what it has. Whole files stand in
[examples/config](../examples/config).

* A key that is not known, and a key given twice, is an error.
* Durations have a unit: ` + "`500ms`, `2s`, `1m`" + `. Bytes take K, M, G (1000, 1000^2, 1000^3) and Ki, Mi, Gi (1024 ...), with or without a B behind.
* A secret stands in the file, or in one of its own: for each secret KEY there is ` + "`KEY-file`" + ` with a path, relative to the configuration file; a
  newline at its end is not part of it. Variables are not expanded in values. An empty secret is an error, since it would mean none.
* Anchors and aliases (` + "`&x`, `*x`" + `) work, merging (` + "`<<`" + `) does not.
* The file is read again on SIGHUP and within two seconds of a change to it, or to a secret's file. Routes and listeners that are the same as before go on
  untouched.

Variables of the environment override the file, and flags override both; an empty one counts as unset:

| Variable | What it does |
|---|---|
`

const docsRoutes = `
## The life of a route

What sources and outputs may be, and what their options mean, stands in [urls.md](urls.md).

* A source that is lost, or not there, is opened again for as long as it takes, with back-off; so is an output. A source that is refused for its
  credentials is not tried again before the configuration is read again, or the entry of its route changes; such an output, before the entry changes or it
  is added again.
* A source that comes to an end of its own ends the route: a file, unless it has ` + "`loop=1`" + `; http with ` + "`#reconnect=0`" + ` and srt with
  ` + "`reconnect=0`" + `. The route then shows the state done and tells the event ended. It is played again when its entry changes, or the daemon starts anew.
  An http source without that option is fetched again when its reply ends.
* A route whose address is taken says so and is tried again every 5 s; no other is touched. So is a listener at a reload, with growing pauses up to
  5 s, and the rest of the new configuration is in force meanwhile. At the start of the daemon a listener that cannot be opened is an error.
* Outputs that the API adds stay until the API removes them or the daemon ends, also when their route begins anew or is reloaded with changes. They are not
  written to the file, nor taken over by an upgrade; nor are routes of the API. An output of the file that the API removes is back when the
  entry of its route changes. A route of the API gives way to one of the file with its name, which goes on with the outputs added to it.
* A recording (a file output) goes on behind what it has when its route begins anew, unless all had been played. It is emptied at the start of the daemon, or when it is added again, unless
  it has ` + "`append=1`" + `.
* ` + "`weirline serve --upgrade`" + ` hands over the sockets of listeners and of routes: srt, tcp and unix. Who calls meanwhile waits. Connections of routes end and are
  made again by their callers; requests over HTTP go on to their end.
`

const docsTail = docsRoutes + `
## Callers of a listener

A caller says by its stream id what it wants:

| Stream id | Meaning |
|---|---|
| ` + "`#!::r=NAME,m=publish,u=USER`" + ` | sends NAME; u only where there are users |
| ` + "`#!::r=NAME,m=request,u=USER`" + ` | receives NAME; m=request is the default |
| ` + "`NAME`" + ` | receives NAME if a route plays it, else sends it |
| ` + "`publish:NAME`, `read:NAME`" + ` | sends or receives NAME, where NAME alone would be taken the other way |

Other keys of the first form (h, s, and your own) are ignored, and passed on to the hook; t has to be stream. Without a stream id nobody is let in. It is UTF-8
without control characters, at most 512 bytes, and taken as it is: there are no escapes. Names are compared byte by byte.

The rules are asked in this order, and the first that refuses is what the caller is told:

| Rule | Counted as | Code |
|---|---|---|
| deny, then allow | address | 2403 |
| the stream id can be read and names a stream | stream-id | 2400 |
| the user is known | user | 2401 |
| the user may publish or play the stream | permission | 2403 |
| a route has the stream, in this direction | stream, mode | 2404, 2405 |
| who needs a passphrase encrypts, and nobody else | passphrase | 1011 |
| max-connections, max-per-address, the route's max-players; not over 384 callers undecided at a time, 256 of one address; fewer than 50 wrong passphrases of the address, less 10 a second | limit | 2402 |
| the passphrase is right: the user's, else the stream's, else the listener's, else that in the address | passphrase | 1010 |
| the hook was not asked more than 256 times because of the address, less 50 a second | limit | 2402 |
| the hook: 2xx accepts; 400 to 424 refuse with the code of the same number, other 4xx with 2403, 429 with 2402 | hook | 24xx |
| the hook fails: 5xx, 3xx, nobody there; no answer in time | hook-failed | 2500, 2504 |
| the stream has no publisher yet (of two) | busy | 2409 |

Codes are those on the wire; libsrt's API shows them less 1000. Refusals are logged, at most five lines a reason in ten seconds, and counted all.

A second publisher is refused as long as media comes from the first. If none has come for 0.4 s, a caller from the first one's IP address takes its place; for
one from another address it takes 1 s.

The hook gets a POST with ` + "`{\"listener\", \"peer\", \"streamId\", \"stream\", \"mode\", \"user\"}`" + `, mode being publish or play; at most 64 requests at a time,
16 of them for one address. The body of its answer is not read. Callers who wait for it hold up nobody else. Where there is a passphrase it is asked only about
those who have it; where there is none, about everybody whom the rules before it let through. An IPv6 address counts with all of its /64 here. With
enforcedencryption=0 in the address a passphrase proves nothing.

Players over the route's slow-after are disconnected by what the daemon itself had to drop for them, after a second at the earliest. With a latency well below
that, a player's own receiver skips what its link does not carry first, which acknowledges it: it shows in the player's loss and retransmissions only.
`

// Every field that the file can set has a key, and the other way round.
func TestKeysAreTheFields(t *testing.T) {
	for _, p := range parts4docs() {
		var have, want []string
		for _, r := range p.rows {
			if r.name != "source" { // short for sources
				have = append(have, r.name)
			}
			if r.meaning == "" || r.kind == "" {
				t.Errorf("%s: %s has no meaning or kind", p.title, r.name)
			}
		}
		for i := range p.of.NumField() {
			want = append(want, p.of.Field(i).Tag.Get("yaml"))
		}
		if !reflect.DeepEqual(have, want) {
			t.Errorf("%s: keys %v, fields %v", p.title, have, want)
		}
	}
}

// The examples in the tables are right, and no default is outside its range.
func TestExamplesInTheTables(t *testing.T) {
	for _, p := range parts4docs() {
		for _, r := range p.rows {
			if r.example != "" && !strings.HasPrefix(r.example, r.name+": ") && !strings.HasPrefix(r.example, r.name+"-file: ") {
				t.Errorf("%s: the example of %s is %q", p.title, r.name, r.example)
			}
			if r.example == "" || strings.HasPrefix(r.example, r.name+"-file: ") {
				continue
			}
			if bad := p.parse(r.example); len(bad) > 0 {
				t.Errorf("%s: %q: %v", p.title, r.example, bad)
			}
		}
	}
	c := Default()
	c.Routes = []Route{defaultRoute()}
	c.Routes[0].Name, c.Routes[0].Sources = "x", []Source{{URL: "udp://:5000"}}
	h := defaultHook()
	h.URL = "http://x"
	c.Listeners = []Listener{{Name: "x", Address: ":0", Hook: &h}}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// The schemes that are named are those that can be used, in each direction, and no
// others.
func TestSchemesInTheTables(t *testing.T) {
	targets := map[string]string{
		"srt://": "127.0.0.1:9000", "udp://": "127.0.0.1:9000", "tcp://": "127.0.0.1:9000", "unix:": "/tmp/x.sock",
		"file://": "/tmp/x.ts", "http://": "127.0.0.1:9000/x", "https://": "127.0.0.1:9000/x", "rtmp://": "127.0.0.1/x", "ftp://": "127.0.0.1/x",
		"rtp://": "127.0.0.1:9000", "hls://": "127.0.0.1/x", "data:": "x", "fd:": "3", "pipe:": "1", "tls://": "127.0.0.1:9000",
	}
	allowed := strings.Split(urlAllowed, ", ")
	for _, s := range allowed {
		if targets[s] == "" {
			t.Errorf("%s is allowed and not tried here", s)
		}
	}
	for s, target := range targets {
		c := Default()
		r := defaultRoute()
		r.Name, r.Sources, r.Outputs = "x", []Source{{URL: s + target}}, []Output{{URL: "udp://127.0.0.1:1"}}
		c.Routes = []Route{r}
		asSource := c.Validate()
		r.Sources, r.Outputs = []Source{{URL: "udp://127.0.0.1:1"}}, []Output{{URL: s + target}}
		c.Routes = []Route{r}
		asOutput := c.Validate()
		for _, err := range []error{asSource, asOutput} {
			if ok := slices.Contains(allowed, s); ok != (err == nil) {
				t.Errorf("%s is allowed: %v; it is refused by %v", s, ok, err)
			} else if err != nil && !strings.Contains(err.Error(), "srt://, udp://, tcp://, unix:, file://, http://") {
				t.Errorf("%s: %v does not say what is allowed", s, err)
			}
		}
	}
}

func TestExampleFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "config", "*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		c, err := Load(f, nil)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(c.Routes) == 0 || len(c.Warnings()) > 0 {
			t.Errorf("%s: %d routes, warnings %q", f, len(c.Routes), c.Warnings())
		}
	}
}
