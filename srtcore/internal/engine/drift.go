package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/wire"
)

const (
	// driftSamples is how many samples make one drift value: ten seconds of ACKs
	// at their full rate. Where they are rarer, driftTime and a tenth of the
	// samples do.
	driftSamples = 1000
	driftTime    = 12 * time.Second
	// maxDrift is how much drift is kept beside the base; more moves into it.
	maxDrift = 5 * time.Millisecond
)

// drift takes one sample of how far the peer's clock has moved against this
// one: an ACKACK's arrival against its time stamp, less half of what the round
// trip has grown since the first sample (draft section 4.7).
func (t *tsbpd) drift(now mono.Time, ts wire.Timestamp, rttGrowth time.Duration, c *Conn) {
	if !t.on || !c.cfg.DriftTracer {
		return
	}
	if t.samples == 0 {
		t.since = now
	}
	t.sum += now.Sub(t.localTime(now, ts)) - rttGrowth/2
	t.samples++
	if t.samples < driftSamples && (t.samples < driftSamples/10 || now.Sub(t.since) < driftTime) {
		return
	}
	t.off = t.sum / time.Duration(t.samples)
	t.sum, t.samples = 0, 0
	if t.off > maxDrift {
		t.shift(maxDrift)
	} else if t.off < -maxDrift {
		t.shift(-maxDrift)
	}
}

// shift moves d of the drift into the base; play times stay as they are.
func (t *tsbpd) shift(d time.Duration) {
	t.base = t.base.Add(d)
	t.off -= d
}
