package access

import (
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirline/weirline/srtcore"
)

// mode is which way the media goes.
type mode int

const (
	modeOpen mode = iota // a plain stream id: the configuration says
	modePlay
	modePublish
)

func (m mode) String() string {
	switch m {
	case modePlay:
		return "play"
	case modePublish:
		return "publish"
	}
	return ""
}

// wish is what a caller wants, by its stream id:
//
//	#!::r=NAME,m=publish|request,u=USER   the form of the SRT documents; no m: request
//	NAME                                  what the configuration has of that name:
//	                                      playing if it can be played, else publishing
//	publish:NAME, read:NAME               where NAME alone would not say it
//
// Other keys of the standard form are for others and ignored, but t has to be
// stream if it is there.
type wish struct {
	stream string
	mode   mode
	user   string
}

var (
	errNoName = errors.New("the stream id names no stream: write #!::r=NAME or NAME")
	errEscape = errors.New("the stream id begins with %23: the caller's program does not decode it, so write # there")
	errText   = errors.New("the stream id is not text: allowed UTF-8 without control characters")
	errMode   = errors.New("the mode of the stream id is not served: allowed m=request, m=publish, and t=stream")
)

// parseWish reads a stream id.
func parseWish(id string) (wish, error) {
	info, err := srtcore.ParseStreamID(id)
	if err != nil {
		return wish{}, err
	}
	if !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return wish{}, errText
	}
	if strings.HasPrefix(id, "%23!") || strings.HasPrefix(id, "%23%21") {
		return wish{}, errEscape
	}
	w := wish{stream: info.Resource(), user: info.User()}
	if w.stream == "" {
		return w, errNoName
	}
	if !info.Standard() {
		return w, nil
	}
	if t := info.Type(); t != "" && t != "stream" {
		return w, errMode
	}
	switch info.Mode() {
	case "", "request":
		w.mode = modePlay
	case "publish":
		w.mode = modePublish
	default:
		return w, errMode
	}
	return w, nil
}

// find returns the end that w means, completing what a plain stream id left
// open; nil: there is no such stream, or, with other, only the opposite mode of
// it. The lock is held.
func (p *Port) find(w *wish) (e *end, other bool) {
	if s := p.streams[w.stream]; s != nil {
		if w.mode == modeOpen {
			w.mode = modePublish
			if s.play != nil {
				w.mode = modePlay
			}
		}
		e := *s.place(w.mode)
		return e, e == nil
	}
	if w.mode != modeOpen {
		return nil, false
	}
	for prefix, m := range map[string]mode{"publish:": modePublish, "read:": modePlay} {
		if name, ok := strings.CutPrefix(w.stream, prefix); ok {
			w.stream, w.mode = name, m
			return p.find(w)
		}
	}
	return nil, false
}

// shownName is a stream's name as a log may have it. What follows the name in a
// plain stream id of other servers' conventions may be a password.
func shownName(name string) string {
	head, rest := "", name
	for _, prefix := range []string{"publish:", "read:"} {
		if r, ok := strings.CutPrefix(name, prefix); ok {
			head, rest = prefix, r
		}
	}
	if i := strings.IndexAny(rest, ":?&=,; "); i >= 0 {
		rest = rest[:i] + "..."
	}
	const most = 80
	if len(rest) > most {
		rest = rest[:most] + "..."
	}
	return head + rest
}

// shownID is a stream id as the API may have it: keys that we do not know may
// hold a token.
func shownID(id string) string {
	info, err := srtcore.ParseStreamID(id)
	if err != nil || !info.Standard() {
		return shownName(id)
	}
	for i, pair := range info.Pairs {
		if len(pair.Key) != 1 || !strings.Contains("rmuhst", pair.Key) {
			info.Pairs[i].Value = "(hidden)"
		}
	}
	return info.String()
}
