package element

import (
	"time"

	"github.com/weirline/weirline/gstplugin/props"
)

// Source is srtgosrc.
type Source struct {
	host     Host
	settings *props.Settings
}

// NewSource returns a source that is stopped.
func NewSource(h Host, s *props.Settings) *Source { return &Source{host: h, settings: s} }

// Start opens the source; it never waits for the peer. The error is a *Report.
func (s *Source) Start() error { return nil }

// Read waits for a packet and returns up to len(dst) of those that are there.
func (s *Source) Read(dst []Packet) (int, Status) { return 0, Flushing }

// Release gives packets back; their payloads are invalid from then on.
func (s *Source) Release(p []Packet) {}

// Unlock makes Read return Flushing, now and until UnlockStop.
func (s *Source) Unlock() {}

// UnlockStop ends what Unlock began.
func (s *Source) UnlockStop() {}

// Stop ends everything that Start began.
func (s *Source) Stop() {}

// Latency is the negotiated latency once connected, before that the property.
func (s *Source) Latency() (latency time.Duration, live bool) { return 0, true }

// Stats are the counters; they may be asked for at any time.
func (s *Source) Stats() Stats { return Stats{} }
