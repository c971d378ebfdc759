package control

import (
	"time"
)

// point is what a chart shows of one second.
type point struct {
	mbps, rtt, loss, retrans, buffer float32
}

// history is the last five minutes of a connection, a ring.
type history struct {
	at    time.Time
	last  *LiveSRT
	ring  []point
	begin int
}

// add fills in l's rates and keeps it.
func (h *history) add(now time.Time, l *LiveSRT) {
	l.since(h.last, now.Sub(h.at).Seconds())
	first := h.last == nil
	h.at, h.last = now, l
	if first {
		return // no rate yet
	}
	p := point{float32(l.Mbps), float32(l.RTT), float32(l.LossPercent), float32(l.RetransPerSec), float32(l.Buffer)}
	if len(h.ring) < historyLength {
		h.ring = append(h.ring, p)
		return
	}
	h.ring[h.begin] = p
	h.begin = (h.begin + 1) % historyLength
}

// History is the past of a connection, oldest first, one value a second.
type History struct {
	ID            string    `json:"id"`
	End           time.Time `json:"end"` // of the last value
	Step          float64   `json:"stepSeconds"`
	Mbps          []float32 `json:"mbps"`
	RTT           []float32 `json:"rttMs"`
	LossPercent   []float32 `json:"lossPercent"`
	RetransPerSec []float32 `json:"retransPerSec"`
	Buffer        []float32 `json:"bufferMs"`
}

// history copies the past of a connection; false: there is none.
func (s *sampler) history(id string) (History, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.past[id]
	if h == nil {
		return History{}, false
	}
	out := History{ID: id, End: h.at, Step: sampleEvery.Seconds(), Mbps: []float32{}, RTT: []float32{}, LossPercent: []float32{}, RetransPerSec: []float32{}, Buffer: []float32{}}
	for i := range h.ring {
		p := h.ring[(h.begin+i)%len(h.ring)]
		out.Mbps = append(out.Mbps, p.mbps)
		out.RTT = append(out.RTT, p.rtt)
		out.LossPercent = append(out.LossPercent, p.loss)
		out.RetransPerSec = append(out.RetransPerSec, p.retrans)
		out.Buffer = append(out.Buffer, p.buffer)
	}
	return out, true
}
