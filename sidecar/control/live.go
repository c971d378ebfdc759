package control

import (
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/hub"
	"github.com/weirline/weirline/sidecar/route"
)

// Live is what the page and `weirline top` show, once a second. It carries what
// changes and what is looked at; the whole of a connection is at
// /v1/connections/{id}.
type Live struct {
	Time        time.Time          `json:"time"`
	Status      Status             `json:"status"`
	LogLevel    string             `json:"logLevel"`
	Routes      []LiveRoute        `json:"routes"`
	Connections []LiveConnection   `json:"connections"`
	Listeners   []ListenerSnapshot `json:"listeners"`
}

// LiveRoute is a route without its sessions, which are in Live.Connections.
type LiveRoute struct {
	route.Snapshot
	Mbps float64 `json:"mbps"` // of the media, over the last seconds
}

// LiveConnection is a connection as a row of a table.
type LiveConnection struct {
	ID        string          `json:"id,omitempty"`
	Route     string          `json:"route"`
	Direction string          `json:"direction"`
	Output    string          `json:"output,omitempty"`
	URL       string          `json:"url"` // of the end, without secrets
	Peer      string          `json:"peer,omitempty"`
	StreamID  string          `json:"streamId,omitempty"`
	User      string          `json:"user,omitempty"`
	Uptime    float64         `json:"uptimeSeconds"`
	Queue     hub.ReaderStats `json:"queue"`
	SRT       *LiveSRT        `json:"srt,omitempty"`
}

// Where is whom or what the connection is with: a local end, such as a file or a
// socket, has no peer but an address.
func (c LiveConnection) Where() string {
	if c.Peer != "" {
		return c.Peer
	}
	return c.URL
}

// LiveSRT is the part of srtcore.Stats that belongs to the direction of the
// connection: what this side lost if it receives, what it sends again if it sends.
type LiveSRT struct {
	Mbps          float64 `json:"mbps"`          // payload, over the last second or so
	LossPercent   float64 `json:"lossPercent"`   // of the same packets: missing on the way
	RetransPerSec float64 `json:"retransPerSec"` // packets
	RTT           float64 `json:"rttMs"`
	Buffer        int64   `json:"bufferMs"`
	Latency       int64   `json:"latencyMs"` // negotiated
	Bandwidth     float64 `json:"bandwidthMbps"`
	Packets       int64   `json:"packets"`
	Bytes         int64   `json:"bytes"` // payload
	Lost          int64   `json:"lost"`
	Retransmitted int64   `json:"retransmitted"`
	Dropped       int64   `json:"dropped"` // too late, or not to be decrypted
	Undecrypted   int64   `json:"undecrypted"`
	PBKeyLen      int     `json:"pbKeyLen"` // 0: not encrypted
	PeerVersion   string  `json:"peerVersion,omitempty"`
}

// header is what srtcore's byte counters include of every packet.
const header = 44

func liveSRT(direction string, s *srtcore.Stats) *LiveSRT {
	if s == nil {
		return nil
	}
	l := &LiveSRT{RTT: s.MsRTT, Bandwidth: s.MbpsBandwidth, PBKeyLen: s.PBKeyLen, PeerVersion: s.PeerVersion}
	if direction == Receive {
		l.Packets, l.Bytes = s.PktRecvUniqueTotal, s.ByteRecvUniqueTotal-header*s.PktRecvUniqueTotal
		l.Lost, l.Retransmitted, l.Dropped = s.PktRcvLossTotal, s.PktRcvRetrans, s.PktRcvDropTotal
		l.Undecrypted, l.Buffer, l.Latency = s.PktRcvUndecryptTotal, s.MsRcvBuf, s.MsRcvTsbPdDelay
		return l
	}
	l.Packets, l.Bytes = s.PktSentUniqueTotal, s.ByteSentUniqueTotal-header*s.PktSentUniqueTotal
	l.Lost, l.Retransmitted, l.Dropped = s.PktSndLossTotal, s.PktRetransTotal, s.PktSndDropTotal
	l.Buffer, l.Latency = s.MsSndBuf, s.MsSndTsbPdDelay
	return l
}

// since fills in the rates, from what the same connection showed dt before.
func (l *LiveSRT) since(was *LiveSRT, dt float64) {
	if was == nil || dt <= 0 {
		return
	}
	l.Mbps = float64(max(0, l.Bytes-was.Bytes)) * 8 / dt / 1e6
	l.RetransPerSec = float64(max(0, l.Retransmitted-was.Retransmitted)) / dt
	lost, packets := max(0, l.Lost-was.Lost), max(0, l.Packets-was.Packets)
	if packets > 0 || lost > 0 {
		l.LossPercent = min(100, 100*float64(lost)/float64(max(packets, lost)))
	}
}

// takeLive reads the daemon.
func takeLive(d Daemon, now time.Time) *Live {
	routes := routesOf(d)
	l := &Live{
		Time: now, Status: d.Status(), LogLevel: levelName(d.LogLevel()), Listeners: listenersOf(d),
		Routes: []LiveRoute{}, Connections: []LiveConnection{},
	}
	for _, c := range connections(routes) {
		l.Connections = append(l.Connections, LiveConnection{
			ID: c.ID, Route: c.Route, Direction: c.Direction, Output: c.Output, URL: c.URL, Peer: c.Peer, StreamID: c.StreamID,
			User: c.User, Uptime: c.Uptime, Queue: c.Queue, SRT: liveSRT(c.Direction, c.SRT),
		})
	}
	for _, r := range routes {
		l.Routes = append(l.Routes, LiveRoute{Snapshot: withoutSessions(r)})
	}
	return l
}

// withoutSessions copies what it changes: the daemon may share its slices.
func withoutSessions(r route.Snapshot) route.Snapshot {
	bare := func(ends []route.EndSnapshot) []route.EndSnapshot {
		out := make([]route.EndSnapshot, len(ends))
		for i, e := range ends {
			e.Sessions = []route.SessionSnapshot{}
			out[i] = e
		}
		return out
	}
	r.Source.Sessions = []route.SessionSnapshot{}
	r.Spares, r.Outputs = bare(r.Spares), bare(r.Outputs)
	return r
}
