package props

import (
	"fmt"
	"strconv"
	"strings"
)

// parse reads a value of the element's own from a URI, or says what is wrong.
func (p *Spec) parse(text string) (v value, problem string) {
	switch p.Kind {
	case String:
		return value{text: text}, ""
	case Bool:
		switch strings.ToLower(text) {
		case "1", "yes", "on", "true":
			return value{num: 1}, ""
		case "0", "no", "off", "false":
			return value{}, ""
		}
		return v, "is neither true nor false"
	case Enum:
		n, ok := p.Enum.Parse(text)
		if !ok {
			return v, "is none of " + p.Enum.nicks()
		}
		return value{num: n}, ""
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < p.Min || n > p.Max {
		return v, fmt.Sprintf("is no number from %d to %d", p.Min, p.Max)
	}
	return value{num: n}, ""
}

// check asks srtcore about a property's value as a text.
func (p *Spec) check(text string) error {
	if !p.isCore() || text == "" {
		return nil
	}
	if _, err := readCore([]coreOption{{p.Name, text}}); err != nil {
		return fmt.Errorf("property %q: %w", p.Name, err)
	}
	return nil
}

// shorten keeps messages short, whatever was written.
func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// percentDecode decodes once; a plus stays a plus.
func percentDecode(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+3 > len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil || s[i+1] == '+' {
			return "", false
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), true
}

// escape writes text so that decoding it once gives it back.
func escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~:/,!", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
