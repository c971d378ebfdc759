// Package trace makes the flight recorder of a connection readable: as a capture
// file for packet analysers, as an explanation of each gap, and as JSON that can
// be explained later.
//
// Lives here: the explanation and its causes, the rule for the latency, the
// capture file, the saved form.
// May import: srtcore, srtcore/seq. Never: net/http, other rooms of the sidecar:
// who fetches a trace, and where from, is for control and the command.
package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weirline/weirline/srtcore"
	"github.com/weirline/weirline/srtcore/seq"
)

// Format is how a trace is written.
type Format string

// The formats.
const (
	Pcapng Format = "pcapng" // for Wireshark and the like
	Text   Format = "text"   // the explanation, for people
	JSON   Format = "json"   // trace and explanation; Read takes it
)

// Formats are all of them.
var Formats = []Format{Pcapng, Text, JSON}

// ParseFormat knows the formats by name.
func ParseFormat(name string) (Format, error) {
	if f := Format(name); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q is not known: allowed pcapng, text, json", name)
}

// ErrOff: the connection keeps no flight recorder.
var ErrOff = errors.New("this connection keeps no flight recorder: set tracerecords in its URL (8192, say) and connect again")

// ErrNothing: there is a recorder, with nothing in it.
var ErrNothing = errors.New("the trace holds no records: nothing to explain")

// Write writes the flight recorder of conn.
func Write(conn *srtcore.Conn, format string, w io.Writer) error {
	f, err := ParseFormat(format)
	if err != nil {
		return err
	}
	t := conn.Trace()
	if len(t.Records) == 0 {
		return ErrOff
	}
	return f.Write(w, t)
}

// Write writes t in this format.
func (f Format) Write(w io.Writer, t srtcore.Trace) error {
	switch f {
	case Pcapng:
		return WritePcapng(w, t)
	case Text:
		return Explain(t).WriteText(w)
	}
	return WriteJSON(w, t)
}

// saved is the JSON of a trace. Its first member says what the file is.
type saved struct {
	Format string        `json:"format"`
	Report Report        `json:"report"`
	Trace  srtcore.Trace `json:"trace"`
}

const savedFormat = "weirline-trace-1"

// WriteJSON writes the trace and its explanation.
func WriteJSON(w io.Writer, t srtcore.Trace) error {
	if len(t.Records) == 0 {
		return ErrNothing
	}
	return json.NewEncoder(w).Encode(saved{savedFormat, Explain(t), t})
}

// maxSaved bounds what Read takes: several times the largest recorder.
const maxSaved = 64 << 20

// Bounds of what a recorder writes.
const (
	maxCount = 1 << 30 // numbers
	maxAge   = 1000 * 24 * time.Hour
)

// Read reads what WriteJSON wrote.
func Read(r io.Reader) (srtcore.Trace, error) {
	in := bufio.NewReader(io.LimitReader(r, maxSaved+1))
	if head, _ := in.Peek(4); bytes.Equal(head, []byte{0x0A, 0x0D, 0x0D, 0x0A}) {
		return srtcore.Trace{}, errors.New("this is a pcapng file: it is for packet analysers and lacks the decisions; save the trace as json to have it explained")
	}
	var s saved
	data, err := io.ReadAll(in)
	if err == nil && len(data) > maxSaved {
		err = fmt.Errorf("longer than %d bytes", maxSaved)
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	switch {
	case err != nil:
		return s.Trace, fmt.Errorf("not a trace: %w; allowed is what `weirline trace --format json` has saved", err)
	case s.Format != savedFormat && strings.HasPrefix(s.Format, "weirline-trace-"):
		return s.Trace, fmt.Errorf("the trace has the format %q: allowed %s; use the version of weirline that saved it", s.Format, savedFormat)
	case s.Format != savedFormat:
		return s.Trace, errors.New("not a trace: JSON of another kind; allowed is what `weirline trace --format json` has saved")
	case len(s.Trace.Records) == 0:
		return s.Trace, ErrNothing
	}
	for i, r := range s.Trace.Records {
		if r.Seq > seq.Max || r.Count < 0 || r.Count > maxCount || r.Size < 0 || r.Size > 1<<16 || r.At < 0 || r.At > maxAge {
			return s.Trace, fmt.Errorf("not a trace: record %d cannot be: seq %d, count %d, size %d, at %v", i+1, r.Seq, r.Count, r.Size, r.At)
		}
	}
	return s.Trace, nil
}
