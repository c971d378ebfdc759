package srtcore

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// kind is how the value of an option is written, read and bounded.
type kind uint8

const (
	kindText    kind = iota // bytes; the ranges bound its length
	kindSecret              // the same, never printed
	kindBool                // 0/1, true/false, yes/no, on/off
	kindTriBool             // the same, or -1 for the system's default
	kindInt                 // a plain number
	kindMs                  // a time; without a suffix milliseconds
	kindSec                 // a time; without a suffix seconds
	kindBytes               // K, M, G, Ki, Mi, Gi
	kindRate                // bytes per second, the same suffixes
	kindPackets             // the same suffixes
	kindPercent
	kindVersion // 1.2.3
	kindGo      // a Go value that no text stands for
)

// unit is the word for the kind in documentation and behind a range.
func (k kind) unit() string {
	return [...]string{"text", "text", "bool", "bool", "number", "ms", "s", "bytes", "bytes/s",
		"packets", "percent", "version", "Go value"}[k]
}

func (k kind) isText() bool { return k == kindText || k == kindSecret }

// base is how many of the stored numbers make one of the unit: times are stored
// in nanoseconds.
func (k kind) base() int64 {
	switch k {
	case kindMs:
		return int64(time.Millisecond)
	case kindSec:
		return int64(time.Second)
	}
	return 1
}

// span is a range of allowed values, both ends included, in units of the kind.
type span struct{ lo, hi int64 }

// only allows single values.
func only(values ...int64) []span {
	spans := make([]span, len(values))
	for i, v := range values {
		spans[i] = span{v, v}
	}
	return spans
}

// option is one row of the table.
type option struct {
	field   string // in Config; empty: the URL only
	key     string // in a URL; empty: Go only
	aliases []string
	srto    string // libsrt's name
	kind    kind
	ranges  []span // none: any value
	allowed string // overrides the text made of ranges
	dflt    string // of rows without a field
	doc     string
	// ref returns the address of the Config's field.
	ref func(*Config) any
	// check looks at more than the one value. It returns what is wrong and what
	// would be allowed, or nothing.
	check func(*Config) (problem, allowed string)
}

// number returns the value of any option that is not text.
func (o *option) number(c *Config) int64 {
	switch p := o.ref(c).(type) {
	case *int:
		return int64(*p)
	case *int64:
		return *p
	case *uint32:
		return int64(*p)
	case *time.Duration:
		return int64(*p)
	case *bool:
		if *p {
			return 1
		}
	}
	return 0
}

func (o *option) setNumber(c *Config, n int64) {
	switch p := o.ref(c).(type) {
	case *int:
		*p = int(n)
	case *int64:
		*p = n
	case *uint32:
		*p = uint32(n)
	case *time.Duration:
		*p = time.Duration(n)
	case *bool:
		*p = n != 0
	}
}

func (o *option) text(c *Config) string          { return *o.ref(c).(*string) }
func (o *option) setText(c *Config, text string) { *o.ref(c).(*string) = text }

// same says whether both hold the same value.
func (o *option) same(a, b *Config) bool {
	if o.kind.isText() {
		return o.text(a) == o.text(b)
	}
	return o.number(a) == o.number(b)
}

// value writes the option's value as a URL would, before percent-encoding. The
// text of a secret is never returned.
func (o *option) value(c *Config) string {
	switch o.kind {
	case kindSecret:
		return hiddenSecret
	case kindText:
		return o.text(c)
	}
	return o.kind.format(o.number(c))
}

// format writes a stored number.
func (k kind) format(n int64) string {
	switch k {
	case kindBool:
		return strconv.FormatBool(n != 0)
	case kindMs, kindSec:
		return formatTime(time.Duration(n), time.Duration(k.base()))
	case kindVersion:
		return FormatVersion(uint32(n))
	}
	return strconv.FormatInt(n, 10)
}

// parse sets the option from text. key is what the user called it.
func (o *option) parse(c *Config, key, text string) error {
	if o.kind.isText() {
		o.setText(c, text)
		return o.inRange(c, key)
	}
	n, problem := o.kind.parse(text)
	if problem != "" {
		return &OptionError{Option: key, Value: quoteValue(text), Problem: problem, Allowed: o.allowedText()}
	}
	if _, isInt := o.ref(c).(*int); isInt && int64(int(n)) != n {
		return o.rangeError(key, n)
	}
	o.setNumber(c, n)
	return o.inRange(c, key)
}

// parse reads a number to be stored, or says what is wrong with the text.
func (k kind) parse(text string) (n int64, problem string) {
	var err error
	switch k {
	case kindBool, kindTriBool:
		if k == kindTriBool && text == "-1" {
			return -1, ""
		}
		on, ok := parseBool(text)
		if !ok {
			return 0, "is not a truth value"
		}
		if on {
			n = 1
		}
		return n, ""
	case kindVersion:
		v, ok := parseVersion(text)
		if !ok {
			return 0, "is not a version"
		}
		return int64(v), ""
	case kindMs, kindSec:
		var d time.Duration
		d, err = parseTime(text, time.Duration(k.base()))
		n = int64(d)
	case kindBytes, kindRate:
		n, err = parseBytes(text)
	case kindPackets:
		n, err = parseCount(text)
	default:
		n, err = scaleDecimal(text, 1)
	}
	if err != nil {
		return 0, err.Error()
	}
	return n, ""
}

// inRange looks at the one value; nil means it is allowed.
func (o *option) inRange(c *Config, key string) error {
	if o.kind == kindGo || len(o.ranges) == 0 {
		return nil
	}
	n := int64(0)
	if o.kind.isText() {
		n = int64(len(o.text(c)))
	} else {
		n = o.number(c)
	}
	for _, r := range o.ranges {
		if n >= r.lo*o.kind.base() && n <= r.hi*o.kind.base() {
			return nil
		}
	}
	return o.rangeError(key, n)
}

func (o *option) rangeError(key string, n int64) error {
	if o.kind.isText() {
		return &OptionError{Option: key, Problem: fmt.Sprintf("has %d bytes", n), Allowed: o.allowedText()}
	}
	return &OptionError{Option: key, Value: o.kind.format(n), Problem: "is out of range", Allowed: o.allowedText()}
}

// allowedText writes the ranges for people.
func (o *option) allowedText() string {
	if o.allowed != "" {
		return o.allowed
	}
	switch o.kind {
	case kindBool:
		return "true or false"
	case kindTriBool:
		return "-1, 0 or 1"
	}
	var parts []string
	for _, r := range o.ranges {
		part := strconv.FormatInt(r.lo, 10)
		if r.hi > r.lo {
			part += ".." + strconv.FormatInt(r.hi, 10)
		}
		parts = append(parts, part)
	}
	text := strings.Join(parts, ", ")
	if i := strings.LastIndex(text, ", "); i >= 0 {
		text = text[:i] + " or " + text[i+2:]
	}
	switch {
	case o.kind.isText():
		return text + " bytes"
	case o.kind == kindInt || o.kind == kindVersion || text == "":
		return text
	}
	return text + " " + o.kind.unit()
}

// quoteValue quotes a refused value, shortened if it is long.
func quoteValue(text string) string {
	const limit = 40
	if len(text) > limit {
		return strconv.Quote(text[:limit]) + "..."
	}
	return strconv.Quote(text)
}
