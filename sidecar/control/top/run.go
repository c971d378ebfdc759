package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/weirline/weirline/sidecar/control"
	"github.com/weirline/weirline/sidecar/control/client"
)

const retryAfter = 2 * time.Second

// Screen is the terminal; its size may change.
type Screen struct {
	Out  io.Writer
	Keys io.Reader
	Size func() (width, height int)
}

// Once prints one table.
func Once(ctx context.Context, c *client.Client, out io.Writer, width int) error {
	var live control.Live
	if err := c.Do(ctx, "GET", "/v1/stats", nil, &live); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out, strings.Join(Render(&live, nil, View{Width: width}), "\n"))
	return err
}

// Raw prepares the terminal for Run: keys come singly. The function returned
// undoes it.
func Raw(fd int) (restore func(), err error) {
	old, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	return func() { term.Restore(fd, old) }, nil
}

// state is what is on the screen.
type state struct {
	view   View
	live   *control.Live
	events []control.Event
	fault  string
}

// news is a change: a stream that begins, a sample, an event, or why there is
// none.
type news struct {
	begin bool
	live  *control.Live
	event *control.Event
	err   error
}

// Run draws until ctx ends or q is pressed.
func Run(ctx context.Context, c *client.Client, s Screen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	keys, changes := make(chan string), make(chan news)
	go readKeys(ctx, s.Keys, keys)
	go follow(ctx, c, changes)
	fmt.Fprint(s.Out, "\x1b[?1049h\x1b[?25l") // another screen, no cursor
	defer fmt.Fprint(s.Out, "\x1b[?25h\x1b[?1049l")
	st := state{view: View{Sort: 1, Color: true}, fault: "connecting"}
	for {
		st.draw(s)
		select {
		case <-ctx.Done():
			return nil
		case n := <-changes:
			if err := st.take(n); err != nil {
				return err
			}
		case k, ok := <-keys:
			if !ok || !st.press(k) {
				return nil
			}
		}
	}
}

// follow hands over what the daemon says, and connects again if it goes.
func follow(ctx context.Context, c *client.Client, out chan<- news) {
	send := func(n news) error {
		select {
		case out <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for ctx.Err() == nil {
		if send(news{begin: true}) != nil {
			return
		}
		err := c.Stream(ctx, 0,
			func(l *control.Live) error { return send(news{live: l}) },
			func(e control.Event) error { return send(news{event: &e}) })
		if send(news{err: err}) != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

// readKeys hands over what is typed: a key may be several bytes.
func readKeys(ctx context.Context, in io.Reader, out chan<- string) {
	defer close(out)
	buf := make([]byte, 32)
	for {
		n, err := in.Read(buf)
		if err != nil {
			return
		}
		select {
		case out <- string(buf[:n]):
		case <-ctx.Done():
			return
		}
	}
}

// take returns an error that trying again cannot help.
func (s *state) take(n news) error {
	var refused *client.Error
	switch {
	case n.begin:
		s.events = nil // the stream tells all of them again
	case n.live != nil:
		s.live, s.fault = n.live, ""
	case n.event != nil:
		s.events = append(s.events, *n.event)
		s.events = s.events[max(0, len(s.events)-maxEvents):]
	case errors.As(n.err, &refused) && refused.Status < 500:
		return n.err
	case n.err != nil:
		s.fault = n.err.Error()
	}
	return nil
}

// press returns false to end.
func (s *state) press(key string) bool {
	v := &s.view
	switch key {
	case "q", "Q", "\x03", "\x1b":
		return false
	case "\x1b[C", "s", "\t": // right
		v.sortNext(1)
	case "\x1b[D", "S": // left
		v.sortNext(len(columns) - 1)
	case "r", "R":
		v.Reverse = !v.Reverse
	case "\x1b[B", "j":
		v.Skip++
	case "\x1b[A", "k":
		v.Skip--
	case "\x1b[6~", " ":
		v.Skip += max(1, v.Height/2)
	case "\x1b[5~":
		v.Skip -= max(1, v.Height/2)
	case "g", "\x1b[H":
		v.Skip = 0
	}
	v.Skip = max(0, v.Skip)
	if s.live != nil {
		v.Skip = min(v.Skip, max(0, len(s.live.Connections)-1))
	}
	return true
}

// sortNext goes to the next column that is shown.
func (v *View) sortNext(step int) {
	widths := layout(max(v.Width, leastWidth))
	for range columns {
		if v.Sort = (v.Sort + step) % len(columns); widths[v.Sort] > 0 {
			return
		}
	}
}

// help is what the last line says, and what it says where there is less room.
var help = []string{"q quit  left/right sort by  r reverse  up/down scroll", "q quit  s sort  r reverse  j/k scroll"}

func (s *state) draw(screen Screen) {
	s.view.Width, s.view.Height = screen.Size()
	s.view.Height-- // the last line is ours
	var lines []string
	if s.live != nil {
		lines = Render(s.live, s.events, s.view)
	}
	for len(lines) < s.view.Height {
		lines = append(lines, "")
	}
	keys := help[0]
	if len(keys) > s.view.Width {
		keys = help[1]
	}
	last := paint(s.view, bold, fit(keys, s.view.Width))
	if s.fault != "" {
		last = paint(s.view, red, fit(clean(s.fault), s.view.Width))
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for _, l := range append(lines, last) {
		b.WriteString(l + "\x1b[K\r\n")
	}
	io.WriteString(screen.Out, strings.TrimSuffix(b.String(), "\r\n")+"\x1b[J")
}
