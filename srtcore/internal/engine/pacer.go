package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// pacer spaces packets to the sending bandwidth (draft section 5.1, LiveCC).
type pacer struct {
	next       mono.Time     // the next packet may go then
	period     time.Duration // between packets
	avgPayload int           // bytes, smoothed
	measured   int64         // bytes/s of input, with headers; 0 unknown

	windowStart mono.Time // of the input measurement
	windowBytes int64

	overhead                   int   // percent
	maxBW, inputBW, minInputBW int64 // bytes/s, as in Config
}

const (
	// unlimitedBW stands for MaxBW -1: 1 Gbit/s.
	unlimitedBW = 125_000_000
	// pacerBurst is how far a late loop may catch up.
	pacerBurst = 4 * time.Millisecond
	// inputWindow is how long input is counted for one measurement.
	inputWindow = 500 * time.Millisecond
	// inputPause is longer than a window may take: the input paused, and says
	// nothing about its rate.
	inputPause = 4 * inputWindow
)

func (p *pacer) init(cfg *Config) {
	p.maxBW, p.inputBW, p.minInputBW = cfg.MaxBW, cfg.InputBW, cfg.MinInputBW
	p.overhead = cfg.OverheadBW
	p.avgPayload = 1316
	p.update()
}

// bandwidth returns the limit in bytes/s.
func (p *pacer) bandwidth() int64 {
	switch {
	case p.maxBW > 0:
		return p.maxBW
	case p.maxBW < 0:
		return unlimitedBW
	}
	in := p.inputBW
	if in == 0 {
		in = max(p.measured, p.minInputBW)
	}
	if in == 0 {
		return unlimitedBW // nothing measured yet
	}
	return in * int64(100+p.overhead) / 100
}

func (p *pacer) update() {
	p.period = time.Duration(int64(p.avgPayload+wireOverhead) * int64(time.Second) / max(p.bandwidth(), 1))
}

// due reports whether a packet may go now.
func (p *pacer) due(now mono.Time) bool { return p.next <= now }

// sent accounts for a packet that went at now.
func (p *pacer) sent(now mono.Time, payload int) {
	if d := payload - p.avgPayload; d != 0 {
		p.avgPayload += d / 16
		if d/16 == 0 {
			p.avgPayload = payload
		}
		p.update()
	}
	p.next = max(p.next, now.Add(-pacerBurst)).Add(p.period)
}

// input counts what the application hands in.
func (p *pacer) input(now mono.Time, payload int) {
	if p.windowStart == 0 {
		p.windowStart = now
	}
	if d := now.Sub(p.windowStart); d >= inputWindow {
		if d <= inputPause {
			p.measure(p.windowBytes * int64(time.Second) / int64(d))
		}
		p.windowStart, p.windowBytes = now, 0
	}
	p.windowBytes += int64(payload + wireOverhead)
}

// measure takes the rate of one window: a higher one at once, because what it
// is held against waits until then, a lower one smoothed.
func (p *pacer) measure(rate int64) {
	p.measured = max(rate, (3*p.measured+rate)/4)
	p.update()
}
