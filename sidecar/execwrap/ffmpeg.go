package execwrap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// word is one option of a command line, with its value if it takes one.
type word struct {
	name, value string // name: with its dash
	valued      bool
}

func (v word) args() []string {
	if v.valued {
		return []string{v.name, v.value}
	}
	return []string{v.name}
}

// ffmpeg walks options and files: every option belongs to the next file, an
// input behind -i or an output that stands by itself.
func (w *rewriter) ffmpeg(args []string) error {
	var group []word
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-i" && i+1 < len(args):
			i++
			if err := w.file(group, inputMark, args[i]); err != nil {
				return err
			}
			group = nil
		case a == "--" && i+1 < len(args):
			i++
			if err := w.file(group, []string{"--"}, args[i]); err != nil {
				return err
			}
			group = nil
		case !strings.HasPrefix(a, "-") || a == "-":
			if err := w.file(group, nil, a); err != nil {
				return err
			}
			group = nil
		case i+1 < len(args) && takesValue(ffmpegFlags, a, args[i+1]):
			i++
			group = append(group, word{a, args[i], true})
		default:
			group = append(group, word{name: a})
		}
	}
	for _, v := range group {
		w.emit(v.args()...)
	}
	return nil
}

// file writes a file's options and the file.
func (w *rewriter) file(group []word, before []string, name string) error {
	var err error
	switch {
	case len(before) == 0 && last(group, "-f") == "tee":
		name, err = w.slaves(name)
		group = allowHTTP(group)
	case strings.HasPrefix(name, "tee:"):
		name, err = w.slaves(name[len("tee:"):])
		name = "tee:" + name
		group = allowHTTP(group)
	default:
		prefix, raw := cutPrefix(name)
		if isSRT(raw) && !w.needsPackets(group, before, raw) {
			if slices.Equal(before, inputMark) {
				w.plan.Inputs = append(w.plan.Inputs, len(w.plan.Addresses))
			}
			group, name, err = w.srtFile(group, raw)
			name = prefix + name
		}
	}
	if err != nil {
		return err
	}
	for _, v := range group {
		w.emit(v.args()...)
	}
	w.emit(append(before[:len(before):len(before)], name)...)
	return nil
}

// inputMark stands before a file that is read.
var inputMark = []string{"-i"}

// needsPackets reports whether the format wants to know where packets begin and
// end, which no local form of ours tells: FFmpeg is to send them itself.
func (w *rewriter) needsPackets(group []word, before []string, raw string) bool {
	f := last(group, "-f")
	if slices.Equal(before, inputMark) || f != "rtp" && f != "rtp_mpegts" {
		return false
	}
	w.note("-f %s to %s is left to the program, without weirline: its packets would be cut anew; -f mpegts is carried", f, shown(raw))
	return true
}

// cutPrefix takes the protocols that only wrap another one off an address.
func cutPrefix(name string) (prefix, raw string) {
	for _, p := range []string{"async:", "cache:"} {
		if strings.HasPrefix(name, p) {
			return p, name[len(p):]
		}
	}
	return "", name
}

// srtFile takes the options that belong to the address out of the group.
func (w *rewriter) srtFile(group []word, raw string) (rest []word, name string, err error) {
	var front []setting
	for _, v := range group {
		switch {
		case v.valued && isOption(v.name) && w.takes(v):
			front = append(front, setting{v.name[1:], v.value})
		case v.name == "-format_opts" && v.valued:
			ours, others := dictionary(v.value)
			front = append(front, ours...)
			if others != "" {
				rest = append(rest, word{v.name, others, true})
			}
		default:
			rest = append(rest, v)
		}
	}
	l, err := w.address(raw, front)
	if err != nil {
		return nil, "", err
	}
	rest = w.untimed(allowHTTP(rest), l, raw)
	if l.timeout != "" {
		rest = append(rest, word{"-timeout", l.timeout, true})
	}
	return rest, l.url, nil
}

// untimed leaves out the limit of reading and writing that FFmpeg's SRT does not
// apply to the wait for a caller, and its HTTP would.
func (w *rewriter) untimed(group []word, l local, raw string) []word {
	if !l.listens {
		return group
	}
	out := make([]word, 0, len(group))
	for _, v := range group {
		if v.name == "-rw_timeout" && v.valued {
			w.note("-rw_timeout of %s is left out: here it would bound the wait for a caller too; listen_timeout and weirline exec --timeout do that", shown(raw))
			continue
		}
		out = append(out, v)
	}
	return out
}

// streamIndex is the value of ffmpeg's own option -streamid.
var streamIndex = regexp.MustCompile(`^[0-9]+:[0-9]+$`)

// takes leaves -streamid 0:33 to ffmpeg. Any other value can only be meant for
// SRT, but ffmpeg itself would fail, or send an empty stream id.
func (w *rewriter) takes(v word) bool {
	if v.name != "-streamid" {
		return true
	}
	if streamIndex.MatchString(v.value) {
		return false
	}
	w.note("-streamid is taken for the SRT stream id; ffmpeg alone needs -srt_streamid")
	return true
}

// allowHTTP lets HTTP through where SRT is let through.
func allowHTTP(group []word) []word {
	out := make([]word, 0, len(group))
	for _, v := range group {
		if v.name == "-protocol_whitelist" && v.valued {
			v.value = withHTTP(v.value)
		}
		out = append(out, v)
	}
	return out
}

func withHTTP(list string) string {
	have := map[string]bool{}
	for p := range strings.SplitSeq(list, ",") {
		have[strings.TrimSpace(p)] = true
	}
	if !have["srt"] {
		return list
	}
	for _, p := range []string{"http", "tcp"} {
		if !have[p] {
			list += "," + p
		}
	}
	return list
}

func last(group []word, name string) (value string) {
	for _, v := range group {
		if v.name == name {
			value = v.value
		}
	}
	return value
}

// single is for ffprobe and ffplay: one file, and all options are for it.
func (w *rewriter) single(args []string, flags map[string]bool) error {
	var group []word
	at, raw := -1, ""
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-i", a == "--":
			group = append(group, word{name: a})
		case !strings.HasPrefix(a, "-") || a == "-":
			if isSRT(a) && at >= 0 {
				return fmt.Errorf("two SRT addresses in one command line: %s and %s; one is played", shown(raw), shown(a))
			}
			if isSRT(a) {
				at, raw = len(group), a
			}
			group = append(group, word{name: a})
		case i+1 < len(args) && takesValue(flags, a, args[i+1]):
			i++
			group = append(group, word{a, args[i], true})
		default:
			group = append(group, word{name: a})
		}
	}
	if at < 0 {
		w.emit(args...)
		return nil
	}
	return w.singleFile(group, at, raw)
}

// singleFile rewrites the file at group[at].
func (w *rewriter) singleFile(group []word, at int, raw string) error {
	var front []setting
	for _, v := range group {
		if v.valued && isOption(v.name) {
			front = append(front, setting{v.name[1:], v.value})
		}
	}
	w.plan.Inputs = append(w.plan.Inputs, len(w.plan.Addresses))
	l, err := w.address(raw, front)
	if err != nil {
		return err
	}
	if l.timeout != "" {
		w.emit("-timeout", l.timeout)
	}
	group[at].name = l.url
	for _, v := range w.untimed(allowHTTP(group), l, raw) {
		switch {
		case v.name == l.url:
			w.emit(l.url)
		case !v.valued || !isOption(v.name):
			w.emit(v.args()...)
		}
	}
	return nil
}
