package bench

import (
	"encoding/json"
	"io"
	"math"
	"runtime/debug"
	"strconv"

	"github.com/weirline/weirline/srtcore"
)

// decimal is a number printed with a set number of places, as the other peers
// print theirs.
type decimal struct {
	v      float64
	places int
}

// MarshalJSON implements json.Marshaler.
func (d decimal) MarshalJSON() ([]byte, error) {
	if math.IsNaN(d.v) || math.IsInf(d.v, 0) {
		return []byte("0"), nil
	}
	return strconv.AppendFloat(nil, d.v, 'f', d.places, 64), nil
}

func f1(v float64) decimal { return decimal{v, 1} }
func f2(v float64) decimal { return decimal{v, 2} }
func f3(v float64) decimal { return decimal{v, 3} }

// wireTotals are sums over all connections.
type wireTotals struct {
	SndLoss      int64 `json:"pktSndLoss"`
	RcvLoss      int64 `json:"pktRcvLoss"`
	Retrans      int64 `json:"pktRetrans"`
	SndDrop      int64 `json:"pktSndDrop"`
	RcvDrop      int64 `json:"pktRcvDrop"`
	Undecrypt    int64 `json:"pktRcvUndecrypt"`
	Sent         int64 `json:"pktSent"`
	Recv         int64 `json:"pktRecv"`
	AckSent      int64 `json:"ackSent"`
	AckRecv      int64 `json:"ackRecv"`
	NakSent      int64 `json:"nakSent"`
	NakRecv      int64 `json:"nakRecv"`
	FilterSupply int64 `json:"filterSupply"`
	FilterLoss   int64 `json:"filterLoss"`
}

func (t *wireTotals) add(s *srtcore.Stats) {
	t.SndLoss += s.PktSndLossTotal
	t.RcvLoss += s.PktRcvLossTotal
	t.Retrans += s.PktRetransTotal
	t.SndDrop += s.PktSndDropTotal
	t.RcvDrop += s.PktRcvDropTotal
	t.Undecrypt += s.PktRcvUndecryptTotal
	t.Sent += s.PktSentTotal
	t.Recv += s.PktRecvTotal
	t.AckSent += s.PktSentACKTotal
	t.AckRecv += s.PktRecvACKTotal
	t.NakSent += s.PktSentNAKTotal
	t.NakRecv += s.PktRecvNAKTotal
}

// processUse is what the process cost: in whole, and in the measured part.
type processUse struct {
	User       decimal `json:"user_s"`
	Sys        decimal `json:"sys_s"`
	CPU        decimal `json:"cpu_s"`
	RunWall    decimal `json:"run_wall_s"`
	RunUser    decimal `json:"run_user_s"`
	RunSys     decimal `json:"run_sys_s"`
	RunCPU     decimal `json:"run_cpu_s"`
	RunNvcsw   int64   `json:"run_nvcsw"`
	RunNivcsw  int64   `json:"run_nivcsw"`
	PeakRSS    int64   `json:"peak_rss_kb"`
	PeakThread int64   `json:"peak_threads"`
}

func useBetween(a, b usage, p peaks) processUse {
	e := usageNow()
	return processUse{
		User: f3(e.user), Sys: f3(e.sys), CPU: f3(e.user + e.sys),
		RunWall: f3(float64(b.at-a.at) / 1e9), RunUser: f3(b.user - a.user), RunSys: f3(b.sys - a.sys),
		RunCPU:   f3(b.user + b.sys - a.user - a.sys),
		RunNvcsw: b.nvcsw - a.nvcsw, RunNivcsw: b.nivcsw - a.nivcsw,
		PeakRSS: p.rssKB, PeakThread: p.threads,
	}
}

// library names what was measured.
func library() string {
	v := "devel"
	if i, ok := debug.ReadBuildInfo(); ok && i.Main.Version != "" && i.Main.Version != "(devel)" {
		v = i.Main.Version
	}
	return "weirline " + v
}

func printLine(out io.Writer, v any) error {
	return json.NewEncoder(out).Encode(v)
}
