package execwrap

import (
	"encoding/hex"
	"strings"
)

// local is what stands for an SRT address in the new command line.
type local struct {
	url string
	// timeout is FFmpeg's option of that name, which its HTTP has too, with the
	// same meaning and unit; the program is to be told. Empty: none.
	timeout string
	// listens: the program will wait until somebody calls.
	listens bool
}

// address makes an address of ours from one of FFmpeg's and the options that
// stood in front of it, and returns what takes its place. What the address
// says beats the options.
func (w *rewriter) address(raw string, front []setting) (local, error) {
	name := shown(raw)
	authority, query, _ := strings.Cut(raw[len(srtScheme):], "?")
	authority = w.onlyHostPort(authority, name)
	given := parseQuery(query)
	// The first of several keys counts, of several options the last.
	for i := len(front) - 1; i >= 0; i-- {
		given = append(given, front[i])
	}
	var pairs []string
	var timeout string
	var err error
	mode, seen := "caller", map[string]bool{}
	for _, s := range given {
		o, isFFmpeg := srtOptions[s.name]
		key := o.ours
		if key == "" {
			key = s.name
		}
		if seen[key] {
			continue
		}
		value, set := s.value, true
		switch {
		case s.name == "timeout":
			set = false
			if timeout, err = microseconds(s.value); err != nil {
				return local{}, s.wrap(err, name)
			}
		case foreignKeys[s.name]:
			w.note("%s in the address of %s is left out, as FFmpeg does: it is an option of other protocols", s.name, name)
			continue
		case isFFmpeg:
			if value, set, err = w.convert(s, name); err != nil {
				return local{}, err
			}
		}
		seen[key] = true
		switch {
		case !set:
		case key == "mode":
			mode = value
		default:
			pairs = append(pairs, key+"="+escape(value))
		}
	}
	if mode == "listener" && timeout != "" {
		w.note("timeout of %s is left out: here it would bound the wait for a caller too; listen_timeout and weirline exec --timeout do that", name)
		timeout = ""
	}
	url := srtScheme + authority + "?" + strings.Join(append([]string{"mode=" + escape(mode)}, pairs...), "&")
	w.plan.Addresses = append(w.plan.Addresses, url)
	return local{w.local(len(w.plan.Addresses)-1) + extension(raw), timeout, mode == "listener"}, nil
}

// onlyHostPort leaves out what FFmpeg ignores.
func (w *rewriter) onlyHostPort(authority, name string) string {
	if i := strings.IndexByte(authority, '/'); i >= 0 {
		if i+1 < len(authority) {
			w.note("the path in the address of %s is left out, as FFmpeg does; a stream is named by streamid=", name)
		}
		authority = authority[:i]
	}
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		w.note("the user name in the address of %s is left out, as FFmpeg does", name)
		authority = authority[i+1:]
	}
	return authority
}

// parseQuery takes the part behind the question mark apart. A plus is a space,
// as FFmpeg has it, and %XX is decoded once, as by FFmpeg 7 and later.
func parseQuery(query string) (given []setting) {
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		given = append(given, setting{key, decode(value)})
	}
	return given
}

// decode leaves a % that starts no code as it is, as every FFmpeg does.
func decode(v string) string {
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		switch {
		case v[i] == '+':
			out = append(out, ' ')
			continue
		case v[i] == '%' && i+2 < len(v):
			if b, err := hex.DecodeString(v[i+1 : i+3]); err == nil {
				out = append(out, b...)
				i += 2
				continue
			}
		}
		out = append(out, v[i])
	}
	return string(out)
}

// escape writes a value so that it is read back as it is.
func escape(v string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(v) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~/:,!=", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

// extension is what FFmpeg would take for the file name's extension: formats
// are guessed by it, or not found without -f as ever.
func extension(raw string) string {
	ext := raw[strings.LastIndexByte(raw, '.')+1:]
	if len(ext) == len(raw) || ext == "" || len(ext) > 10 {
		return ""
	}
	for _, c := range []byte(ext) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9') {
			return ""
		}
	}
	return "." + ext
}

// shown is an address for people: scheme, host and port alone.
func shown(raw string) string {
	name, _, _ := strings.Cut(raw, "?")
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = srtScheme + name[i+1:]
	}
	return printable(name)
}

// printable shortens what a typing mistake may have made of a key or address.
func printable(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
