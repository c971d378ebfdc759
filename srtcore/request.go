package srtcore

import (
	"errors"
	"fmt"
	"net"

	"github.com/weirline/weirline/srtcore/internal/loop"
	"github.com/weirline/weirline/srtcore/wire"
)

// ConnRequest is a caller that Config.OnRequest decides about.
type ConnRequest struct {
	// StreamID is what the caller gave; see ParseStreamID.
	StreamID string
	// RemoteAddr is the caller's address, LocalAddr the one it called.
	RemoteAddr, LocalAddr *net.UDPAddr
	// PeerVersion is the caller's SRT version, 0x00MMmmpp.
	PeerVersion uint32
	// Encrypted tells whether the caller encrypts, so that a passphrase is needed.
	Encrypted bool

	// OnRefused may be set by OnRequest. It is called, in a goroutine of its own,
	// when a caller that OnRequest accepted does not become a connection after
	// all: its passphrase is wrong (RejBadSecret, RejUnsecure), the decision took
	// too long (RejTimeout), or the listener was closed meanwhile (RejClose).
	OnRefused func(RejectReason)

	cfg   Config
	err   error
	check func(passphrase string) wire.RejectReason
}

// SetPassphrase sets the passphrase for this caller in place of the listener's;
// empty for none. An unfit one is an error, and the caller is refused.
func (r *ConnRequest) SetPassphrase(passphrase string) error {
	r.cfg.Passphrase = passphrase
	r.err = r.cfg.Validate()
	return r.err
}

// CheckPassphrase is a *RejectError if the caller does not have the passphrase
// that was set, by SetPassphrase or for the listener. Without this call that is
// found out after OnRequest; with it OnRequest can do what is dear, such as
// asking another server, for callers that have proven who they are. It takes about
// a millisecond. Where EnforcedEncryption is off everybody passes.
func (r *ConnRequest) CheckPassphrase() error {
	var reason RejectReason
	switch {
	case !r.cfg.EnforcedEncryption:
		return nil
	case r.Encrypted != (r.cfg.Passphrase != ""):
		reason = RejUnsecure
	case r.Encrypted:
		reason = r.check(r.cfg.Passphrase)
	}
	if reason == 0 {
		return nil
	}
	return &RejectError{Reason: reason}
}

// decide asks cfg.OnRequest about a caller.
func (c *Config) decide(info loop.RequestInfo) loop.Verdict {
	r := &ConnRequest{
		StreamID:    info.StreamID,
		RemoteAddr:  net.UDPAddrFromAddrPort(info.Remote),
		LocalAddr:   net.UDPAddrFromAddrPort(info.Local),
		PeerVersion: info.PeerVersion,
		Encrypted:   info.Encrypted,
		cfg:         *c,
		check:       info.Check,
	}
	if err := r.ask(); err != nil {
		return loop.Verdict{Reason: refusal(err)}
	}
	ec := r.cfg.engineConfig()
	return loop.Verdict{Config: &ec, Refused: r.OnRefused}
}

// ask calls the application; its panic refuses the caller and ends nothing else.
func (r *ConnRequest) ask() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &RejectError{Reason: RejInternal}
		}
	}()
	if err := r.cfg.OnRequest(r); err != nil {
		return err
	}
	if r.err != nil {
		return fmt.Errorf("passphrase: %w", r.err)
	}
	return nil
}

// refusal is the code on the wire for an application's error.
func refusal(err error) wire.RejectReason {
	if e, ok := errors.AsType[*RejectError](err); ok && e.Reason >= RejUnknown {
		return e.Reason
	}
	return RejPredefined
}
