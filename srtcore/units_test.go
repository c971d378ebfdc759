package srtcore

import (
	"errors"
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	for _, tt := range []struct {
		text string
		unit time.Duration
		want time.Duration
		err  error
	}{
		{"200", time.Millisecond, 200 * time.Millisecond, nil},
		{"2", time.Second, 2 * time.Second, nil},
		{"200ms", time.Second, 200 * time.Millisecond, nil},
		{"200000us", time.Millisecond, 200 * time.Millisecond, nil},
		{"2s", time.Millisecond, 2 * time.Second, nil},
		{"10m", time.Millisecond, 10 * time.Minute, nil},
		{"1.5s", time.Millisecond, 1500 * time.Millisecond, nil},
		{"0.5", time.Millisecond, 500 * time.Microsecond, nil},
		{"0.5MS", time.Second, 500 * time.Microsecond, nil},
		{"-1", time.Millisecond, -time.Millisecond, nil},
		{"0", time.Millisecond, 0, nil},
		{"007", time.Millisecond, 7 * time.Millisecond, nil},
		{"0.5us", time.Millisecond, 0, errTooFine},
		{"0.0001", time.Millisecond, 0, errTooFine},
		{"0.1234567891s", time.Millisecond, 0, errTooFine},
		{"", time.Millisecond, 0, errNotNumber},
		{"-", time.Millisecond, 0, errNotTime},
		{"ms", time.Millisecond, 0, errNotNumber},
		{"1h", time.Millisecond, 0, errNotTime},
		{"1 ms", time.Millisecond, 0, errNotTime},
		{"+1", time.Millisecond, 0, errNotNumber},
		{"0x10", time.Millisecond, 0, errNotNumber},
		{"1.", time.Millisecond, 0, errNotTime},
		{".5", time.Millisecond, 0, errNotNumber},
		{"1.2.3", time.Millisecond, 0, errNotNumber},
		{"1e3", time.Millisecond, 0, errNotNumber},
		{"99999999999999999999", time.Millisecond, 0, errTooLarge},
		{"9223372036854775807", time.Second, 0, errTooLarge},
		{"9223372036854775us", time.Second, 9223372036854775 * time.Microsecond, nil},
		{"9223372036854776us", time.Second, 0, errTooLarge},
	} {
		got, err := parseTime(tt.text, tt.unit)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("parseTime(%q, %v) = %v, %v, want %v, %v", tt.text, tt.unit, got, err, tt.want, tt.err)
		}
	}
}

func TestParseBytes(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		err  error
	}{
		{"1316", 1316, nil},
		{"-1", -1, nil},
		{"10M", 10_000_000, nil},
		{"10m", 10_000_000, nil},
		{"1.5K", 1500, nil},
		{"2G", 2_000_000_000, nil},
		{"8MB", 8_000_000, nil},
		{"8Mi", 8 << 20, nil},
		{"8MiB", 8 << 20, nil},
		{"12B", 12, nil},
		{"10Mb", 0, errBitUnit},
		{"10Mbit", 0, errBitUnit},
		{"10Mbps", 0, errBitUnit},
		{"10MBps", 0, errBitUnit},
		{"10T", 0, errNotSize},
		{"0.1", 0, errTooFine},
		{"1.0000001K", 0, errTooFine},
		{"", 0, errNotNumber},
		{"99999999999G", 0, errTooLarge},
	} {
		got, err := parseBytes(tt.text)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("parseBytes(%q) = %d, %v, want %d, %v", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func TestParseCount(t *testing.T) {
	if n, err := parseCount("16M"); n != 16_000_000 || err != nil {
		t.Errorf("16M: %d, %v", n, err)
	}
	if _, err := parseCount("16MB"); !errors.Is(err, errNotSize) {
		t.Errorf("16MB packets: %v", err)
	}
}

func TestFormatTimeReadsBack(t *testing.T) {
	for _, tt := range []struct {
		d, unit time.Duration
		want    string
	}{
		{0, time.Millisecond, "0ms"},
		{0, time.Second, "0s"},
		{2 * time.Second, time.Millisecond, "2000ms"},
		{2 * time.Second, time.Second, "2s"},
		{1500 * time.Millisecond, time.Second, "1500ms"},
		{1500 * time.Microsecond, time.Millisecond, "1500us"},
		{-time.Millisecond, time.Millisecond, "-1ms"},
	} {
		got := formatTime(tt.d, tt.unit)
		if got != tt.want {
			t.Errorf("formatTime(%v, %v) = %s, want %s", tt.d, tt.unit, got, tt.want)
		}
		if back, err := parseTime(got, tt.unit); back != tt.d || err != nil {
			t.Errorf("%s reads back as %v, %v", got, back, err)
		}
	}
	for d, want := range map[time.Duration]string{1: "1us", -1: "-1us", 1001: "2us", -1001: "-2us"} {
		if got := formatTime(d, time.Millisecond); got != want {
			t.Errorf("formatTime(%dns) = %s, want %s", d, got, want)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]uint32{
		"1.5.3": 0x010503, "0x010503": 0x010503, "0X010503": 0x010503, "66819": 0x010503,
		"0.0.0": 0, "255.255.255": 0xFFFFFF,
	} {
		if got, ok := parseVersion(text); got != want || !ok {
			t.Errorf("parseVersion(%q) = %#x, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "1.5", "1.5.3.1", "1.5.256", "1.-5.3", "a.b.c", "0x1000000", "1.5.3 "} {
		if got, ok := parseVersion(text); ok {
			t.Errorf("parseVersion(%q) = %#x", text, got)
		}
	}
	if got := FormatVersion(0x010505); got != "1.5.5" {
		t.Errorf("FormatVersion: %s", got)
	}
}

func TestParseBool(t *testing.T) {
	for _, text := range []string{"1", "true", "TRUE", "yes", "On"} {
		if v, ok := parseBool(text); !v || !ok {
			t.Errorf("%q is not true", text)
		}
	}
	for _, text := range []string{"0", "false", "no", "OFF"} {
		if v, ok := parseBool(text); v || !ok {
			t.Errorf("%q is not false", text)
		}
	}
	for _, text := range []string{"", "2", "-1", "enabled"} {
		if _, ok := parseBool(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}
