package element

import (
	"fmt"
	"net/netip"
)

// Host is GStreamer, as the elements see it. Its methods are called from any
// goroutine, with no lock held; they may read statistics and set properties. None
// is called once Stop has returned, but one that is under way then is waited for
// only a moment, so that a handler may stop the element itself.
type Host interface {
	// CallerAdded and CallerRemoved are about a listener's callers, always in
	// pairs.
	CallerAdded(a netip.AddrPort)
	CallerRemoved(a netip.AddrPort)
	// CallerConnecting is asked about each caller with authentication=true;
	// false refuses it. Several may be asked about at once.
	CallerConnecting(a netip.AddrPort, streamID string) bool
	// CallerRejected: a caller was refused by this side.
	CallerRejected(a netip.AddrPort, streamID string)
	// Warning and Error are bus messages.
	Warning(Report)
	Error(Report)
	// ConnectionRemoved: the caller of a listening source with keep-listening
	// has left.
	ConnectionRemoved()
	// LatencyChanged: Latency has another answer than before.
	LatencyChanged()
}

// Code is the kind of a Report, one of GST_RESOURCE_ERROR_*.
type Code int

// The codes that occur.
const (
	OpenRead Code = iota
	OpenWrite
	Read
	Write
	NotAuthorized
	Settings
)

// Report is a message for a person, and for a program in Reason and ReasonCode:
// a short name and SRT's number of it (1000 and up: refused by the protocol,
// 2000 and up: refused by an application); 0 and "" if there is none.
type Report struct {
	Code       Code
	Text       string // what happened, with the value and the remedy
	Debug      string
	Reason     string
	ReasonCode int
}

func (r *Report) Error() string {
	if r.Debug == "" {
		return r.Text
	}
	return fmt.Sprintf("%s (%s)", r.Text, r.Debug)
}

// Status is how Read, Write and Drain ended.
type Status int

// The statuses; the names match GST_FLOW_*.
const (
	OK Status = iota
	EOS
	Flushing
	Failed // GST_FLOW_ERROR; the Host has had the Error
)
