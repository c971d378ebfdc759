// Package control shows how routes stand. Everything here reads the same
// route.Snapshot and nothing here touches a payload.
//
// Lives here: StatsWriter (JSON, CSV and text lines), the API, the metrics and
// the page, Daemon (what they see of it).
// May import: route, config for its types, srtcore, net/http.
// Never: endpoint, hub, ingest, access, daemon.
package control

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/weirline/weirline/sidecar/route"
)

// Formats are the names NewStatsWriter takes.
var Formats = []string{"json", "csv", "text"}

// StatsWriter writes snapshots, one after another.
type StatsWriter interface {
	Write(route.Snapshot) error
}

// NewStatsWriter returns the writer for a format.
func NewStatsWriter(format string, w io.Writer) (StatsWriter, error) {
	switch format {
	case "json":
		return jsonStats{json.NewEncoder(w)}, nil
	case "csv":
		return &csvStats{w: csv.NewWriter(w)}, nil
	case "text":
		return textStats{w}, nil
	}
	return nil, fmt.Errorf("stats format %q is not known: allowed %s", format, strings.Join(Formats, ", "))
}

type jsonStats struct{ enc *json.Encoder }

func (j jsonStats) Write(s route.Snapshot) error { return j.enc.Encode(s) }

// csvStats writes one row for each end and each of its sessions.
type csvStats struct {
	w      *csv.Writer
	headed bool
}

var csvHead = []string{
	"time", "side", "url", "state", "peer", "uptimeSeconds", "messages", "dropped", "queued",
	"msRTT", "mbpsSendRate", "mbpsRecvRate", "pktSentTotal", "pktRecvTotal", "pktRetransTotal",
	"pktSndLossTotal", "pktRcvLossTotal", "pktSndDropTotal", "pktRcvDropTotal",
}

func (c *csvStats) Write(s route.Snapshot) error {
	if !c.headed {
		c.headed = true
		c.w.Write(csvHead)
	}
	c.rows(s.Time, "source", s.Source)
	for _, o := range s.Outputs {
		c.rows(s.Time, "output", o)
	}
	c.w.Flush()
	return c.w.Error()
}

func (c *csvStats) rows(at time.Time, side string, e route.EndSnapshot) {
	stamp := at.UTC().Format(time.RFC3339Nano)
	if len(e.Sessions) == 0 {
		row := make([]string, len(csvHead))
		copy(row, []string{stamp, side, e.URL, string(e.State), "", "", "", strconv.FormatUint(e.Queue.Dropped, 10)})
		c.w.Write(row)
	}
	for _, s := range e.Sessions {
		row := []string{
			stamp, side, e.URL, string(e.State), s.Peer, decimal(s.Uptime),
			strconv.FormatUint(s.Queue.Read, 10), strconv.FormatUint(s.Queue.Dropped, 10), strconv.Itoa(s.Queue.Queued),
		}
		c.w.Write(append(row, srtColumns(s)...))
	}
}

func srtColumns(s route.SessionSnapshot) []string {
	if s.SRT == nil {
		return make([]string, 10)
	}
	t := s.SRT
	row := []string{decimal(t.MsRTT), decimal(t.MbpsSendRate), decimal(t.MbpsRecvRate)}
	for _, v := range []int64{t.PktSentTotal, t.PktRecvTotal, t.PktRetransTotal, t.PktSndLossTotal, t.PktRcvLossTotal, t.PktSndDropTotal, t.PktRcvDropTotal} {
		row = append(row, strconv.FormatInt(v, 10))
	}
	return row
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }

type textStats struct{ w io.Writer }

func (t textStats) Write(s route.Snapshot) error {
	_, err := fmt.Fprintf(t.w, "%s %s\n", s.Time.Format(time.TimeOnly), Line(s))
	return err
}

// Line is one line of text about a route.
func Line(s route.Snapshot) string {
	var b strings.Builder
	fmt.Fprintf(&b, "source %s", s.Source.State)
	sessions(&b, s.Source)
	fmt.Fprintf(&b, " | %d messages, %s", s.Media.Messages, size(s.Media.Bytes))
	for _, o := range s.Outputs {
		fmt.Fprintf(&b, " | output %s", o.State)
		if n := len(o.Sessions); n > 1 {
			fmt.Fprintf(&b, " x%d", n)
		}
		sessions(&b, o)
		if o.Queue.Dropped > 0 {
			fmt.Fprintf(&b, " dropped %d", o.Queue.Dropped)
		}
	}
	return b.String()
}

// sessions adds what the first SRT connection of an end says.
func sessions(b *strings.Builder, e route.EndSnapshot) {
	for _, s := range e.Sessions {
		if s.SRT == nil {
			continue
		}
		fmt.Fprintf(b, " rtt %.1f ms", s.SRT.MsRTT)
		if lost := s.SRT.PktRcvDropTotal + s.SRT.PktSndDropTotal; lost > 0 {
			fmt.Fprintf(b, " lost %d", lost)
		}
		return
	}
}

func size(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f kB", float64(n)/1e3)
}
