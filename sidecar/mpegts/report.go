package mpegts

import (
	"time"

	"github.com/asticode/go-astits"
)

// Report is how a transport stream stands. Rates and peaks are of the last whole
// second; counters are from the beginning.
type Report struct {
	Format  Format  `json:"format"`
	Bitrate float64 `json:"bitrate"` // bit/s of everything that comes, by the time of arrival
	// PCRBitrate is that of the transport stream by its own clock; 0: unknown.
	PCRBitrate float64 `json:"pcrBitsPerSecond,omitempty"`
	Packets    uint64  `json:"packets"`
	NullShare  float64 `json:"nullShare"` // part of the packets that are stuffing, 0..1

	SyncLosses       uint64 `json:"syncLosses"`
	StrayBytes       uint64 `json:"strayBytes"` // outside packets
	ContinuityErrors uint64 `json:"continuityErrors"`
	TransportErrors  uint64 `json:"transportErrors"` // packets that are marked as damaged
	TableErrors      uint64 `json:"tableErrors"`     // PAT and PMT sections that cannot be read
	ClockErrors      uint64 `json:"clockErrors"`     // PCRs that do not follow the one before

	UntrackedPackets uint64 `json:"untrackedPackets,omitempty"` // of PIDs beyond the 255 that are watched

	PATPresent bool `json:"patPresent"` // one came within the last two seconds
	PMTPresent bool `json:"pmtPresent"` // of every program
	// Ages are of the last one of each kind, of the program whose is oldest;
	// absent: none has come.
	PATAgeMs *float64 `json:"patAgeMs,omitempty"`
	PMTAgeMs *float64 `json:"pmtAgeMs,omitempty"`

	// Of the program's clock that does worst.
	PCRIntervalMs    float64 `json:"pcrIntervalMs,omitempty"` // on average
	PCRMaxIntervalMs float64 `json:"pcrMaxIntervalMs,omitempty"`
	PCRJitterMs      float64 `json:"pcrJitterMs"` // arrival against clock, smoothed
	PCRMaxJitterMs   float64 `json:"pcrMaxJitterMs,omitempty"`

	Programs []ProgramReport `json:"programs,omitempty"`
	PIDs     []PIDReport     `json:"pids,omitempty"` // in the order of their coming, at most 255
}

// ProgramReport is one program.
type ProgramReport struct {
	Number   uint16         `json:"number"`
	PMTPID   uint16         `json:"pmtPid"`
	PCRPID   uint16         `json:"pcrPid,omitempty"`
	PMTAgeMs *float64       `json:"pmtAgeMs,omitempty"`
	Version  uint8          `json:"version"`
	Streams  []StreamReport `json:"streams,omitempty"`
}

// StreamReport is one elementary stream.
type StreamReport struct {
	PID   uint16 `json:"pid"`
	Type  uint8  `json:"type"`  // stream_type
	Codec string `json:"codec"` // for people
}

// PIDReport is one PID.
type PIDReport struct {
	PID              uint16 `json:"pid"`
	Packets          uint64 `json:"packets"`
	ContinuityErrors uint64 `json:"continuityErrors"`
}

const (
	// silence is after how long without media a rate is 0.
	silence = 2 * time.Second
	// tableAge is how old a table may be that counts as present; they ought to
	// come every half a second.
	tableAge = 2 * time.Second
)

// Snapshot is the Report, for those who do not want to know what it is.
func (h *Health) Snapshot() any { return h.Report() }

// Report says how the stream stands now.
func (h *Health) Report() Report {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.now()
	r := Report{
		Format: h.format, Packets: h.packets,
		SyncLosses: h.hunt.losses, StrayBytes: h.hunt.stray,
		ContinuityErrors: h.ccErrors, TransportErrors: h.tei, TableErrors: h.tables.bad,
		UntrackedPackets: h.untracked,
	}
	if now.Sub(h.at) < silence {
		r.Bitrate = h.rates.bps
	}
	if h.packets > 0 {
		r.NullShare = float64(h.nulls) / float64(h.packets)
	}
	for _, s := range h.pids.list {
		if s.clock != nil {
			r.ClockErrors += s.clock.jumps
		}
		if s.packets > 0 {
			r.PIDs = append(r.PIDs, PIDReport{s.pid, s.packets, s.errors})
		}
	}
	h.tables.report(&r, now)
	h.clocks(&r, now)
	return r
}

func (t *tables) report(r *Report, now time.Time) {
	r.PATAgeMs = age(t.at, now)
	r.PATPresent = recent(t.at, now)
	r.PMTPresent = len(t.programs) > 0
	for _, p := range t.programs {
		a := age(p.at, now)
		if !recent(p.at, now) {
			r.PMTPresent = false
		}
		if a != nil && (r.PMTAgeMs == nil || *a > *r.PMTAgeMs) {
			r.PMTAgeMs = a
		}
		r.Programs = append(r.Programs, p.report(a))
	}
}

func (p *program) report(age *float64) ProgramReport {
	out := ProgramReport{Number: p.number, PMTPID: p.pid, PMTAgeMs: age, Version: p.version}
	if p.table == nil {
		return out
	}
	out.PCRPID = p.table.PCRPID
	for _, s := range p.table.ElementaryStreams {
		out.Streams = append(out.Streams, StreamReport{s.ElementaryPID, uint8(s.StreamType), codec(s)})
	}
	return out
}

// codec names a stream. Private data say by a descriptor what they are.
func codec(s *astits.PMTElementaryStream) string {
	name := s.StreamType.String()
	for _, d := range s.ElementaryStreamDescriptors {
		switch {
		case d.AC3 != nil:
			return "AC3 Audio"
		case d.EnhancedAC3 != nil:
			return "EAC3 Audio"
		case d.Registration != nil && s.StreamType == astits.StreamTypePrivateData:
			return "private data " + printable(d.Registration.FormatIdentifier)
		case d.Subtitling != nil:
			return "DVB subtitles"
		case d.Teletext != nil:
			return "teletext"
		}
	}
	return name
}

// printable is a format identifier as the four letters it should be.
func printable(id uint32) string {
	b := []byte{byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
	for i, c := range b {
		if c < ' ' || c > '~' {
			b[i] = '?'
		}
	}
	return string(b)
}

// clocks shows the worst of the programs' clocks, or of all as long as no program
// is known.
func (h *Health) clocks(r *Report, now time.Time) {
	known := false
	for _, p := range h.tables.programs {
		if p.clock != nil && p.clock.clock != nil {
			known = true
			r.worst(p.clock.clock, now)
		}
	}
	for _, s := range h.pids.list {
		if !known && s.clock != nil {
			r.worst(s.clock, now)
		}
	}
}

func (r *Report) worst(c *clock, now time.Time) {
	if !c.begun || now.Sub(c.at) >= silence {
		return
	}
	const ms = 1000
	w := c.shown()
	r.PCRIntervalMs = max(r.PCRIntervalMs, w.interval*ms)
	r.PCRMaxIntervalMs = max(r.PCRMaxIntervalMs, w.longest*ms)
	r.PCRMaxJitterMs = max(r.PCRMaxJitterMs, w.worst*ms)
	r.PCRJitterMs = max(r.PCRJitterMs, c.jitter*ms)
	r.PCRBitrate = max(r.PCRBitrate, w.bps)
}

func age(t, now time.Time) *float64 {
	if t.IsZero() {
		return nil
	}
	ms := float64(now.Sub(t)) / float64(time.Millisecond)
	return &ms
}

func recent(t, now time.Time) bool { return !t.IsZero() && now.Sub(t) < tableAge }
