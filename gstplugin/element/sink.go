package element

import (
	"time"

	"github.com/weirline/weirline/gstplugin/props"
)

// Sink is srtgosink.
type Sink struct {
	host     Host
	settings *props.Settings
}

// NewSink returns a sink that is stopped.
func NewSink(h Host, s *props.Settings) *Sink { return &Sink{host: h, settings: s} }

// Start opens the sink; it never waits for the peer. The error is a *Report.
func (s *Sink) Start() error { return nil }

// Write sends messages, each split into packets if it is longer than one.
func (s *Sink) Write(msgs [][]byte) Status { return OK }

// SetHeaders sets the stream headers, which each new peer gets first.
func (s *Sink) SetHeaders(h [][]byte) {}

// Drain waits until everybody had time to receive what was written.
func (s *Sink) Drain() Status { return OK }

// Unlock makes Write and Drain return Flushing, now and until UnlockStop.
func (s *Sink) Unlock() {}

// UnlockStop ends what Unlock began.
func (s *Sink) UnlockStop() {}

// Stop ends everything that Start began.
func (s *Sink) Stop() {}

// Latency is what the sink adds: nothing, and it is not live.
func (s *Sink) Latency() (latency time.Duration, live bool) { return 0, false }

// Stats are the counters; they may be asked for at any time.
func (s *Sink) Stats() Stats { return Stats{} }
