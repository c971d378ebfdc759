// Package svg draws the lab's charts: bars and lines, with a title, an axis and
// labels, as plain SVG that any browser shows and any diff reads.
//
// Lives here: the two charts.
// May import: the standard library. Never: profile, report, srtcore, sidecar.
package svg

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
)

// Bar is one bar of a chart.
type Bar struct {
	Label string
	Value float64
	Ours  bool // drawn in the accent colour
}

// Point is one point of a line.
type Point struct{ X, Y float64 }

// Line is one line of a chart.
type Line struct {
	Label  string
	Points []Point
}

const (
	width    = 720
	left     = 150 // room for the bars' labels
	right    = 90  // room for the values
	top      = 56
	barStep  = 30
	barThick = 20

	ink    = "#1f2933"
	faint  = "#cbd2d9"
	accent = "#0b7285"
	plain  = "#9aa5b1"
)

var colours = []string{accent, "#d9480f", "#5f3dc4", "#2b8a3e", "#868e96"}

type drawing struct{ b strings.Builder }

func begin(title string, height int) *drawing {
	d := &drawing{}
	fmt.Fprintf(&d.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" font-family="system-ui, sans-serif" font-size="13">`+"\n", width, height, width, height)
	fmt.Fprintf(&d.b, `<title>%s</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&d.b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	d.text(16, 28, "start", 16, title)
	return d
}

func (d *drawing) text(x, y float64, anchor string, size int, s string) {
	fmt.Fprintf(&d.b, `<text x="%s" y="%s" text-anchor="%s" font-size="%d" fill="%s">%s</text>`+"\n",
		num(x), num(y), anchor, size, ink, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64) {
	fmt.Fprintf(&d.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s"/>`+"\n", num(x1), num(y1), num(x2), num(y2), faint)
}

func (d *drawing) end(w io.Writer) error {
	d.b.WriteString("</svg>\n")
	_, err := io.WriteString(w, d.b.String())
	return err
}

func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// Bars draws horizontal bars from zero; unit names the values.
func Bars(w io.Writer, title, unit string, bars []Bar) error {
	height := top + len(bars)*barStep + 34
	d := begin(title, height)
	most := 0.0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	scale := 0.0
	if most > 0 {
		scale = (width - left - right) / most
	}
	d.line(left, top-8, left, float64(height-30))
	for i, b := range bars {
		y := float64(top + i*barStep)
		fill := plain
		if b.Ours {
			fill = accent
		}
		d.text(left-8, y+15, "end", 13, b.Label)
		fmt.Fprintf(&d.b, `<rect x="%d" y="%s" width="%s" height="%d" fill="%s"/>`+"\n", left, num(y), num(b.Value*scale), barThick, fill)
		d.text(left+b.Value*scale+6, y+15, "start", 13, label(b.Value))
	}
	d.text(left, float64(height-10), "start", 12, unit)
	return d.end(w)
}

// label writes a value with three significant digits.
func label(v float64) string {
	if math.Abs(v) >= 1000 {
		return strconv.FormatFloat(math.Round(v), 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// Lines draws lines over a common axis from zero.
func Lines(w io.Writer, title, xUnit, yUnit string, lines []Line) error {
	const height, bottom = 360, 310
	d := begin(title, height)
	var mx, my float64
	for _, l := range lines {
		for _, p := range l.Points {
			mx, my = max(mx, p.X), max(my, p.Y)
		}
	}
	mx, my = roundUp(mx), roundUp(my)
	x := func(v float64) float64 { return 70 + v/mx*(width-70-30) }
	y := func(v float64) float64 { return bottom - v/my*(bottom-top-20) }
	for i := range 5 {
		f := float64(i) / 4
		d.line(70, y(f*my), width-30, y(f*my))
		d.text(62, y(f*my)+4, "end", 12, label(f*my))
		d.text(x(f*mx), bottom+18, "middle", 12, label(f*mx))
	}
	for i, l := range lines {
		c := colours[i%len(colours)]
		var pts []string
		for _, p := range l.Points {
			pts = append(pts, num(x(p.X))+","+num(y(p.Y)))
		}
		fmt.Fprintf(&d.b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", c, strings.Join(pts, " "))
		fmt.Fprintf(&d.b, `<rect x="%d" y="40" width="12" height="12" fill="%s"/>`+"\n", 70+i*150, c)
		d.text(float64(88+i*150), 51, "start", 12, l.Label)
	}
	d.text(70, height-10, "start", 12, "x: "+xUnit+"   y: "+yUnit)
	return d.end(w)
}

// roundUp returns 1, 2 or 5 times a power of ten, not below v.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}
