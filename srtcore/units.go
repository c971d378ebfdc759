package srtcore

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Errors of the number parsers; the caller adds the option and the value.
var (
	errNotNumber = errors.New("is not a whole number")
	errNotTime   = errors.New("is not a time (a number, with us, ms, s or m behind it or nothing)")
	errNotSize   = errors.New("is not a number (with K, M, G, Ki, Mi or Gi behind it or nothing)")
	errTooFine   = errors.New("is finer than the unit allows")
	errTooLarge  = errors.New("is too large")
	errBitUnit   = errors.New("counts bytes, not bits")
)

var timeUnits = map[string]time.Duration{
	"us": time.Microsecond,
	"ms": time.Millisecond,
	"s":  time.Second,
	"m":  time.Minute,
}

// parseTime reads a time such as "200", "200ms", "1.5s" or "-1"; a number
// without a suffix counts in unit. Nothing finer than a microsecond is taken.
func parseTime(text string, unit time.Duration) (time.Duration, error) {
	number, suffix := splitSuffix(text)
	if suffix != "" {
		var ok bool
		if unit, ok = timeUnits[strings.ToLower(suffix)]; !ok {
			return 0, errNotTime
		}
	}
	us, err := scaleDecimal(number, int64(unit/time.Microsecond))
	if err != nil {
		return 0, err
	}
	if us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		return 0, errTooLarge
	}
	return time.Duration(us) * time.Microsecond, nil
}

var countUnits = map[string]int64{
	"":   1,
	"k":  1000,
	"m":  1000 * 1000,
	"g":  1000 * 1000 * 1000,
	"ki": 1 << 10,
	"mi": 1 << 20,
	"gi": 1 << 30,
}

// parseBytes reads a number of bytes such as "1316", "10M", "1.5MB" or "8MiB":
// K, M and G are powers of 1000, Ki, Mi and Gi of 1024, in either case. A small
// b stands for bits everywhere else, so it is refused rather than guessed at.
func parseBytes(text string) (int64, error) {
	number, suffix := splitSuffix(text)
	lower := strings.ToLower(suffix)
	if strings.HasSuffix(suffix, "b") || strings.Contains(lower, "bit") || strings.HasSuffix(lower, "bps") {
		return 0, errBitUnit
	}
	scale, ok := countUnits[strings.TrimSuffix(lower, "b")]
	if !ok {
		return 0, errNotSize
	}
	return scaleDecimal(number, scale)
}

// parseCount reads a number of packets or the like, with the same K, M and G.
func parseCount(text string) (int64, error) {
	number, suffix := splitSuffix(text)
	scale, ok := countUnits[strings.ToLower(suffix)]
	if !ok {
		return 0, errNotSize
	}
	return scaleDecimal(number, scale)
}

// splitSuffix splits text behind its last digit.
func splitSuffix(text string) (number, suffix string) {
	end := strings.LastIndexAny(text, "0123456789") + 1
	return text[:end], text[end:]
}

// scaleDecimal returns number*scale exactly, or an error if the result is no
// integer of 64 bits. number is an optional sign, digits and an optional fraction.
func scaleDecimal(number string, scale int64) (int64, error) {
	whole, fraction, dotted := strings.Cut(number, ".")
	digits := strings.TrimPrefix(whole, "-")
	if !allDigits(digits) || dotted && !allDigits(fraction) {
		return 0, errNotNumber
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/scale {
		return 0, errTooLarge
	}
	part, err := scaleFraction(fraction, scale)
	if err != nil {
		return 0, err
	}
	n *= scale
	if n > math.MaxInt64-part {
		return 0, errTooLarge
	}
	n += part
	if len(digits) < len(whole) {
		n = -n
	}
	return n, nil
}

// scaleFraction returns 0.fraction*scale.
func scaleFraction(fraction string, scale int64) (int64, error) {
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > 9 {
		return 0, errTooFine
	}
	var n, den int64 = 0, 1
	for _, c := range []byte(fraction) {
		n, den = n*10+int64(c-'0'), den*10
	}
	// n < 1e9 and scale <= 6e7: the product fits.
	if n *= scale; n%den != 0 {
		return 0, errTooFine
	}
	return n / den, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// formatTime writes d in unit, or in the largest smaller one that leaves it
// whole. Always with its suffix, and milliseconds never as seconds: another tool
// that reads the bare number then still reads the right one. A rest below a
// microsecond is rounded away from zero: what is negative stays so.
func formatTime(d, unit time.Duration) string {
	if unit == time.Second && d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	if d%time.Millisecond == 0 {
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	}
	us := d.Microseconds()
	switch rest := d % time.Microsecond; {
	case rest > 0:
		us++
	case rest < 0:
		us--
	}
	return strconv.FormatInt(us, 10) + "us"
}

// parseBool reads the words for true and false that SRT tools take.
func parseBool(text string) (value, ok bool) {
	switch strings.ToLower(text) {
	case "1", "true", "yes", "on":
		return true, true
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}

// parseVersion reads "1.2.3", or the same as one number, 0x010203 or 66051.
func parseVersion(text string) (uint32, bool) {
	parts := strings.Split(text, ".")
	if len(parts) == 1 {
		n, err := strconv.ParseUint(strings.ToLower(text), 0, 24)
		return uint32(n), err == nil
	}
	if len(parts) != 3 {
		return 0, false
	}
	var v uint32
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return 0, false
		}
		v = v<<8 | uint32(n)
	}
	return v, true
}

// FormatVersion writes an SRT version number, 0x00MMmmpp, as "1.5.5".
func FormatVersion(v uint32) string {
	return strconv.Itoa(int(v>>16)) + "." + strconv.Itoa(int(v>>8&0xFF)) + "." + strconv.Itoa(int(v&0xFF))
}
