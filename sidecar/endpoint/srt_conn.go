package endpoint

import "github.com/weirline/weirline/srtcore"

// SRTSource and SRTSink are sessions on connections that somebody else has
// accepted.
type (
	SRTSource = srtSource
	SRTSink   = srtSink
)

// NewSRTSource returns a Source that reads from c.
func NewSRTSource(c *srtcore.Conn) *SRTSource { return newSRTSource(c) }

// NewSRTSink returns a Sink that writes to c.
func NewSRTSink(c *srtcore.Conn) *SRTSink { return newSRTSink(c) }

// Replace ends the session in favour of another from the same sender.
func (s *srtSource) Replace() { s.replace() }
