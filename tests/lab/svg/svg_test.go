package svg

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func TestBars(t *testing.T) {
	var b bytes.Buffer
	if err := Bars(&b, `CPU <P2> & "more"`, "s", []Bar{{"libsrt", 8, false}, {"weirline", 0.5, true}, {"none", 0, false}}); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes())
	for _, want := range []string{"&lt;P2&gt; &amp;", `width="480"`, `width="30"`, accent, ">0.5<"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestLinesAndEmptyCharts(t *testing.T) {
	var b bytes.Buffer
	Lines(&b, "fan-out", "players", "cores", []Line{{"relay", []Point{{0, 0}, {100, .5}, {200, 1}}}, {"load", []Point{{0, 0}}}})
	wellFormed(t, b.Bytes())
	if !strings.Contains(b.String(), "70,310 380,") {
		t.Errorf("the line is not scaled:\n%s", b.String())
	}
	for _, draw := range []func(io.Writer) error{
		func(w io.Writer) error { return Bars(w, "t", "u", nil) },
		func(w io.Writer) error { return Lines(w, "t", "x", "y", nil) },
	} {
		b.Reset()
		if draw(&b) != nil || strings.Contains(b.String(), "NaN") {
			t.Errorf("empty chart:\n%s", b.String())
		}
		wellFormed(t, b.Bytes())
	}
}

func TestRoundUp(t *testing.T) {
	for v, want := range map[float64]float64{0: 1, .03: .05, 1: 1, 1.1: 2, 640: 1000, 1280: 2000} {
		if got := roundUp(v); got < want*.999 || got > want*1.001 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}
