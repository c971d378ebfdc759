package execwrap

import "strings"

// slaves rewrites the list of outputs that ffmpeg's tee takes for a file name:
// [f=mpegts:select=v]srt://host:1?latency=200000|[f=mpegts]file.ts
// What needs no change stays as it was, byte for byte.
func (w *rewriter) slaves(list string) (string, error) {
	var out strings.Builder
	for rest := list; ; {
		text, after := token(rest, "|")
		raw := rest[:len(rest)-len(after)]
		changed, err := w.slave(text)
		if err != nil {
			return "", err
		}
		if changed == "" {
			out.WriteString(raw)
		} else {
			out.WriteString(quote(changed, "|"))
		}
		if after == "" {
			return out.String(), nil
		}
		out.WriteByte('|')
		rest = after[1:]
	}
}

// slave returns one output with its SRT address replaced; empty: it has none.
func (w *rewriter) slave(text string) (string, error) {
	given, name, ok := slaveOptions(text)
	if !ok || !isSRT(name) {
		return "", nil
	}
	var front, kept []setting
	for _, s := range given {
		if _, ours := srtOptions[s.name]; ours {
			front = append(front, s)
		} else {
			kept = append(kept, s)
		}
	}
	l, err := w.address(name, front)
	if err != nil {
		return "", err
	}
	if l.timeout != "" {
		kept = append(kept, setting{"timeout", l.timeout})
	}
	if len(kept) == 0 {
		return l.url, nil
	}
	var pairs []string
	for _, s := range kept {
		pairs = append(pairs, s.name+"="+quote(s.value, ":]"))
	}
	return "[" + strings.Join(pairs, ":") + "]" + l.url, nil
}

// dictionary takes FFmpeg's SRT options out of a list key=value:key=value, which
// the fifo muxer has for the muxer and the address behind it.
func dictionary(list string) (ours []setting, others string) {
	var kept []string
	for rest := list; rest != ""; {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, list
		}
		var value string
		value, after = token(after, ":")
		if _, known := srtOptions[key]; known {
			ours = append(ours, setting{key, value})
		} else {
			kept = append(kept, key+"="+quote(value, ":"))
		}
		rest = strings.TrimPrefix(after, ":")
	}
	return ours, strings.Join(kept, ":")
}

// slaveOptions takes [key=value:key=value]name apart.
func slaveOptions(text string) (given []setting, name string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return nil, text, true
	}
	rest := text[1:]
	for !strings.HasPrefix(rest, "]") {
		eq := strings.IndexByte(rest, '=')
		if eq < 0 {
			return nil, "", false
		}
		key := strings.Trim(rest[:eq], blanks)
		if key == "" || strings.Trim(key, keyBytes) != "" {
			return nil, "", false
		}
		var value string
		value, rest = token(rest[eq+1:], ":]")
		given = append(given, setting{key, value})
		switch {
		case rest == "":
			return nil, "", false
		case rest[0] == ':':
			rest = rest[1:]
		}
	}
	return given, rest[1:], true
}

const (
	blanks   = " \n\t\r"
	keyBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/."
)

// token reads text up to one of the bytes in end, in FFmpeg's way of quoting: a
// backslash takes the next byte as it is, apostrophes what is between them, and
// blanks at either end that are not quoted are none of the text.
func token(s, end string) (text, rest string) {
	i := len(s) - len(strings.TrimLeft(s, blanks))
	var out []byte
	keep := 0 // bytes of out that were quoted, or stand before such
	for i < len(s) && strings.IndexByte(end, s[i]) < 0 {
		c := s[i]
		i++
		switch {
		case c == '\\' && i < len(s):
			out = append(out, s[i])
			i++
			keep = len(out)
		case c == '\'':
			for i < len(s) && s[i] != '\'' {
				out = append(out, s[i])
				i++
			}
			if i < len(s) {
				i++
				keep = len(out)
			}
		default:
			out = append(out, c)
		}
	}
	for len(out) > keep && strings.IndexByte(blanks, out[len(out)-1]) >= 0 {
		out = out[:len(out)-1]
	}
	return string(out), s[i:]
}

// quote is the opposite of token.
func quote(text, end string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		edge := i == 0 || i == len(text)-1
		if c == '\\' || c == '\'' || strings.IndexByte(end, c) >= 0 || edge && strings.IndexByte(blanks, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
