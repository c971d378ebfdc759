package execwrap

import (
	"bytes"
	"strings"
)

// noteOverlooked tells of addresses inside other arguments: of filters, shells.
func (w *rewriter) noteOverlooked() {
	for i, a := range w.plan.Args {
		if i == 0 || !strings.Contains(strings.ReplaceAll(a, `\`, ""), srtScheme) {
			continue
		}
		after := ""
		if prev := w.plan.Args[i-1]; len(prev) > 1 && prev[0] == '-' && len(prev) < 40 {
			if name, _, _ := strings.Cut(prev[1:], ":"); name == "metadata" {
				continue // nobody opens that
			}
			after = " (behind " + prev + ")"
		}
		w.note("argument %d%s holds an SRT address that cannot be replaced: if the program opens it, it does so itself, without weirline", i, after)
	}
}

// LookInside adds notes on files that the command line names and that hold SRT
// addresses: playlists, scripts, files of options. read returns the beginning of
// a file, and nothing if there is none of that name.
func (p *Plan) LookInside(read func(name string) []byte) {
	for i, a := range p.Args {
		name := a
		if strings.HasPrefix(a, "-") {
			_, name, _ = strings.Cut(a, "=") // --playlist=FILE
		}
		if name == "" || i == 0 && !strings.Contains(name, "/") {
			continue
		}
		text := read(strings.TrimPrefix(name, "file:"))
		if bytes.IndexByte(text, 0) < 0 && bytes.Contains(bytes.ReplaceAll(text, []byte(`\`), nil), []byte(srtScheme)) {
			p.Notes = append(p.Notes, "the file "+printable(name)+" holds an SRT address that cannot be replaced: if the program opens it, it does so itself, without weirline")
		}
	}
}
