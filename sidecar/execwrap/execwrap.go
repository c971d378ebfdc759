// Package execwrap runs a program that knows srt:// addresses, as ffmpeg does,
// and gives it local addresses of a private sidecar in their place: its command
// line stays what it was and gains reconnecting, many viewers and statistics.
//
// Lives here: Rewrite, a pure function from command line to command line;
// Sidecar, the private HTTP address; Run, the process.
// May import: endpoint, ingest, route, os/exec, log/slog. Never: hub, bench,
// control, srtcore; and Rewrite and what it calls: no file, socket or process.
package execwrap

import (
	"fmt"
	"strings"
)

// Plan is a rewritten command line.
type Plan struct {
	// Args begins with the program's name.
	Args []string
	// Addresses are the SRT addresses that local ones stand for, with the names
	// and units of this project. They may hold passphrases.
	Addresses []string
	// Inputs are the numbers of the addresses that the program opens to read, and
	// cannot ask for again: FFmpeg's SRT does not seek.
	Inputs []int
	// Notes say what was understood otherwise than written, or left as it was.
	// They hold no secrets.
	Notes []string
	// Once: the program only takes a look, as ffprobe does. A peer that leaves is
	// not to be waited for.
	Once bool
}

// Rewrite replaces the SRT addresses in argv. local returns the address that
// stands for the i-th; Rewrite adds the file name extension that the program
// would have seen, since some choose a format by it.
//
// ffmpeg, ffprobe, ffplay and mpv are known, also behind launchers as nice and
// env: options that belong to an address are found and taken along. Of any
// other program every argument that is an srt:// address is replaced. All
// addresses are read as FFmpeg reads them.
func Rewrite(argv []string, local func(i int) string) (*Plan, error) {
	w := &rewriter{local: local, plan: &Plan{}}
	at, parse := program(argv)
	w.plan.Args = append(w.plan.Args, argv[:at+1]...)
	if err := parse(w, argv[at+1:]); err != nil {
		return nil, err
	}
	w.noteOverlooked()
	return w.plan, nil
}

// rewriter collects the parts of a Plan.
type rewriter struct {
	local func(int) string
	plan  *Plan
}

func (w *rewriter) emit(args ...string) { w.plan.Args = append(w.plan.Args, args...) }

func (w *rewriter) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for _, have := range w.plan.Notes {
		if have == text {
			return
		}
	}
	w.plan.Notes = append(w.plan.Notes, text)
}

// known are the programs whose command lines are understood.
var known = map[string]func(*rewriter, []string) error{
	"ffmpeg":  (*rewriter).ffmpeg,
	"ffprobe": func(w *rewriter, args []string) error { w.plan.Once = true; return w.single(args, probeFlags) },
	"ffplay":  func(w *rewriter, args []string) error { return w.single(args, playFlags) },
	"mpv":     (*rewriter).mpv,
}

// program finds a known program: the first word, or one further on if the first
// only launches it.
func program(argv []string) (at int, parse func(*rewriter, []string) error) {
	if parse := known[baseName(argv[0])]; parse != nil {
		return 0, parse
	}
	for i, a := range argv[1:] {
		if isSRT(a) {
			break
		}
		if parse := known[baseName(a)]; parse != nil {
			return i + 1, parse
		}
	}
	return 0, (*rewriter).anything
}

// baseName is a program's name without folder, version and .exe: /usr/bin/ffmpeg,
// ffmpeg7, ffmpeg-7.1 and ffmpeg.exe are ffmpeg.
func baseName(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	return strings.TrimRight(strings.TrimRight(name, "0123456789."), "-")
}

const srtScheme = "srt://"

func isSRT(arg string) bool { return strings.HasPrefix(arg, srtScheme) }

// anything is for programs that are not known.
func (w *rewriter) anything(args []string) error {
	for _, a := range args {
		if isSRT(a) {
			local, err := w.address(a, nil)
			if err != nil {
				return err
			}
			if local.timeout != "" {
				w.note("timeout in the address of %s is left out: only ffmpeg, ffprobe and ffplay can be told", shown(a))
			}
			a = local.url
		}
		w.emit(a)
	}
	return nil
}
