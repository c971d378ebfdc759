// Package top is the page in a terminal: routes, connections and events, drawn
// anew each second.
//
// Lives here: the table as a pure function of a sample, keys, the loop around
// them. May import: control and client for what is shown, golang.org/x/term.
// Never: daemon; the daemon is another process.
package top

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/route"
)

// View is what the person chose to see.
type View struct {
	Width, Height int // of the terminal; Height 0: everything
	Sort          int // of columns
	Reverse       bool
	Skip          int  // connections scrolled past
	Color         bool // escape sequences are understood
}

// column is one of the connections' table.
type column struct {
	head  string
	width int
	from  int  // width of the terminal from which it is shown
	grows bool // shares what is left of the line, or is missing
	right bool
	text  func(control.LiveConnection) string
	order func(a, b control.LiveConnection) int
}

func srt(c control.LiveConnection) control.LiveSRT {
	if c.SRT == nil {
		return control.LiveSRT{}
	}
	return *c.SRT
}

// figure is a column of a number that only SRT connections have; the largest
// comes first.
func figure(head string, width, from int, format string, value func(control.LiveSRT) float64) column {
	return column{head: head, width: width, from: from, right: true,
		text: func(c control.LiveConnection) string {
			if c.SRT == nil {
				return "-"
			}
			return fmt.Sprintf(format, value(*c.SRT))
		},
		order: func(a, b control.LiveConnection) int { return cmp.Compare(value(srt(b)), value(srt(a))) },
	}
}

func words(head string, width, from int, grows bool, value func(control.LiveConnection) string) column {
	return column{head: head, width: width, from: from, grows: grows, text: value,
		order: func(a, b control.LiveConnection) int { return cmp.Compare(value(a), value(b)) }}
}

func dropped(c control.LiveConnection) uint64 { return uint64(srt(c).Dropped) + c.Queue.Dropped }

// The rightmost columns are not the first to go on a narrow terminal: what says
// that something is wrong stays.
var columns = []column{
	words("", 2, 0, false, func(c control.LiveConnection) string {
		if c.Direction == control.Receive {
			return "in"
		}
		return "to"
	}),
	words("ROUTE", 12, 60, false, func(c control.LiveConnection) string { return c.Route }),
	words("PEER", 15, 0, true, func(c control.LiveConnection) string { return strings.TrimRight(c.Where()+" "+c.User, " ") }),
	words("STREAM ID", 18, 120, true, func(c control.LiveConnection) string { return c.StreamID }),
	{head: "AGE", width: 7, from: 100, right: true, text: func(c control.LiveConnection) string { return age(c.Uptime) },
		order: func(a, b control.LiveConnection) int { return cmp.Compare(a.Uptime, b.Uptime) }},
	figure("MBIT/S", 7, 0, "%.2f", func(s control.LiveSRT) float64 { return s.Mbps }),
	figure("RTT", 6, 40, "%.1f", func(s control.LiveSRT) float64 { return s.RTT }),
	figure("LOSS%", 6, 50, "%.2f", func(s control.LiveSRT) float64 { return s.LossPercent }),
	figure("RESENT", 6, 110, "%.0f", func(s control.LiveSRT) float64 { return s.RetransPerSec }),
	{head: "DROPPED", width: 7, from: 70, right: true, text: func(c control.LiveConnection) string { return fmt.Sprint(dropped(c)) },
		order: func(a, b control.LiveConnection) int { return cmp.Compare(dropped(b), dropped(a)) }},
	{head: "BUFFER", width: 9, from: 80, right: true, text: func(c control.LiveConnection) string {
		if c.SRT == nil {
			return "-"
		}
		return fmt.Sprintf("%d/%d", c.SRT.Buffer, c.SRT.Latency)
	}, order: func(a, b control.LiveConnection) int { return cmp.Compare(srt(b).Buffer, srt(a).Buffer) }},
}

// layout returns the widths of the columns that have room; 0: not shown.
func layout(width int) []int {
	widths := make([]int, len(columns))
	left, growing := width+1, 0
	for i, c := range columns {
		if width < c.from {
			continue
		}
		widths[i] = c.width
		left -= c.width + 1
		if c.grows {
			growing++
		}
	}
	for i, c := range columns {
		if widths[i] > 0 && c.grows {
			more := left / growing
			widths[i] += more
			left, growing = left-more, growing-1
		}
	}
	return widths
}

// leastTrouble is how much room it takes to say what is wrong with a route; with
// less, its color has to do.
const leastTrouble = 16

// leastWidth is that of lines on a terminal too narrow for anything.
const leastWidth = 20

// Render draws a sample, with the newest events, as lines of at most the width.
func Render(live *control.Live, events []control.Event, v View) []string {
	v.Width = max(v.Width, leastWidth)
	lines := summary(live, v.Width)
	if live.Status.ConfigError != "" {
		lines = append(lines, paint(v, red, fit("configuration refused: "+live.Status.ConfigError, v.Width)))
	}
	lines = append(lines, "")
	lines = append(lines, routes(live, v)...)
	lines = append(lines, "")
	foot := eventLines(events, v)
	room := 0
	if v.Height > 0 {
		room = max(3, v.Height-len(lines)-len(foot)-1)
	}
	lines = append(lines, connections(live, v, room)...)
	lines = append(lines, foot...)
	if v.Height > 0 && len(lines) > v.Height {
		lines = lines[:v.Height]
	}
	return lines
}

// summary is a line, or several if the terminal is narrow.
func summary(live *control.Live, width int) []string {
	up := 0
	var in, out float64
	for _, r := range live.Routes {
		if r.Source.State == route.Up {
			up++
		}
	}
	for _, c := range live.Connections {
		if c.Direction == control.Receive {
			in += srt(c).Mbps
		} else {
			out += srt(c).Mbps
		}
	}
	version, _, _ := strings.Cut(strings.TrimPrefix(live.Status.Version, "weirline "), " ")
	parts := []string{
		"weirline " + clean(version), "up " + age(live.Time.Sub(live.Status.Started).Seconds()),
		fmt.Sprintf("routes %d/%d", up, len(live.Routes)), fmt.Sprintf("connections %d", len(live.Connections)),
		fmt.Sprintf("in %.2f  out %.2f Mbit/s", in, out),
	}
	lines := []string{fit(parts[0], width)}
	for _, p := range parts[1:] {
		last := &lines[len(lines)-1]
		if len(*last)+2+len(p) <= width {
			*last += "  " + p
		} else {
			lines = append(lines, fit(p, width))
		}
	}
	return lines
}

func routes(live *control.Live, v View) []string {
	name := 16
	if v.Width < 60 {
		name = 10
	}
	out := []string{paint(v, bold, fit(fmt.Sprintf("%-*s %-10s %7s %-7s", name, "ROUTE", "SOURCE", "MBIT/S", "OUTPUTS"), v.Width))}
	for _, r := range live.Routes {
		up, trouble := 0, ""
		for _, o := range r.Outputs {
			if o.State == route.Up {
				up++
			} else if o.Error != "" {
				to, _, _ := strings.Cut(o.URL, "?")
				trouble = to + ": " + o.Error
			}
		}
		if r.Source.State != route.Up && r.Source.Error != "" {
			trouble = r.Source.Error
		}
		line := fmt.Sprintf("%s %-10s %7.2f %-7s", pad(r.Name, name), r.Source.State, r.Mbps, fmt.Sprintf("%d/%d up", up, len(r.Outputs)))
		if v.Width >= len(line)+leastTrouble {
			line += " " + clean(trouble)
		}
		line = fit(line, v.Width)
		switch {
		case r.Source.State == route.Failed:
			line = paint(v, red, line)
		case trouble != "":
			line = paint(v, yellow, line)
		}
		out = append(out, line)
	}
	return out
}

// connections fills room lines, the heading included; 0: all of them.
func connections(live *control.Live, v View, room int) []string {
	widths := layout(v.Width)
	list := slices.Clone(live.Connections)
	by := columns[v.Sort%len(columns)]
	slices.SortStableFunc(list, func(a, b control.LiveConnection) int {
		if v.Reverse {
			a, b = b, a
		}
		return by.order(a, b)
	})
	head := row(widths, func(i int, c column) string {
		if i == v.Sort%len(columns) && c.head != "" {
			return c.head + "*"
		}
		return c.head
	})
	out := []string{paint(v, bold, fit(head, v.Width))}
	list = list[min(v.Skip, max(0, len(list)-1)):]
	for i, c := range list {
		if room > 0 && i == room-2 && len(list) > room-1 {
			return append(out, fit(fmt.Sprintf("... and %d more", len(list)-i), v.Width))
		}
		out = append(out, fit(row(widths, func(_ int, col column) string { return col.text(c) }), v.Width))
	}
	return out
}

func row(widths []int, cell func(int, column) string) string {
	parts := make([]string, 0, len(columns))
	for i, c := range columns {
		if widths[i] == 0 {
			continue
		}
		text := pad(cell(i, c), widths[i])
		if c.right {
			text = strings.TrimRight(text, " ")
			text = strings.Repeat(" ", widths[i]-len([]rune(text))) + text
		}
		parts = append(parts, text)
	}
	return strings.TrimRight(strings.Join(parts, " "), " ")
}

const maxEvents = 5

func eventLines(events []control.Event, v View) []string {
	if len(events) == 0 {
		return nil
	}
	out := []string{""}
	for _, e := range events[max(0, len(events)-maxEvents):] {
		line := fit(clean(fmt.Sprintf("%s %-5s %s %s %s", e.Time.Local().Format(time.TimeOnly), e.Level, e.Route, e.Kind, e.Text)), v.Width)
		switch e.Level {
		case "error":
			line = paint(v, red, line)
		case "warn":
			line = paint(v, yellow, line)
		}
		out = append(out, line)
	}
	return out
}

// clean takes out what a terminal might obey: stream ids come from the network.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// pad cleans text and makes it width characters.
func pad(text string, width int) string {
	r := []rune(clean(text))
	if len(r) > width {
		return string(r[:max(0, width-1)]) + "~"
	}
	return string(r) + strings.Repeat(" ", width-len(r))
}

// fit cuts a line.
func fit(line string, width int) string {
	if r := []rune(line); len(r) > width {
		return string(r[:width])
	}
	return line
}

const (
	bold   = "1"
	red    = "31"
	yellow = "33"
)

func paint(v View, code, line string) string {
	if !v.Color {
		return line
	}
	return "\x1b[" + code + "m" + line + "\x1b[0m"
}

func age(seconds float64) string {
	d := time.Duration(seconds) * time.Second
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd%02dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}
