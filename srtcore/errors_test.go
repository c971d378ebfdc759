package srtcore

import (
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
)

func TestSentinels(t *testing.T) {
	for _, tt := range []struct {
		err     error
		timeout bool
		is      error
	}{
		{ErrClosed, false, net.ErrClosed},
		{ErrTimeout, true, os.ErrDeadlineExceeded},
		{ErrAgain, false, nil},
		{ErrConnTimeout, true, nil},
		{ErrPeerIdle, true, nil},
		{ErrPeerClosed, false, nil},
	} {
		wrapped := &net.OpError{Op: "read", Net: "srt", Err: tt.err}
		if !errors.Is(wrapped, tt.err) || tt.is != nil && !errors.Is(wrapped, tt.is) {
			t.Errorf("%v is not found inside a net.OpError", tt.err)
		}
		var ne net.Error
		if !errors.As(tt.err, &ne) || ne.Timeout() != tt.timeout {
			t.Errorf("%v: Timeout is not %v", tt.err, tt.timeout)
		}
	}
	if errors.Is(ErrClosed, ErrTimeout) || errors.Is(ErrTimeout, net.ErrClosed) {
		t.Error("different sentinels match")
	}
}

func TestRejectError(t *testing.T) {
	var err error = fmt.Errorf("dial: %w", &RejectError{Reason: RejBadSecret, Remote: true})
	if want := "dial: srt: connection rejected by the peer: bad secret (1010)"; err.Error() != want {
		t.Errorf("got %q", err)
	}
	if !errors.Is(err, &RejectError{Reason: RejBadSecret}) || errors.Is(err, &RejectError{Reason: RejUnsecure}) {
		t.Error("errors.Is does not go by the reason")
	}
	local := &RejectError{Reason: RejUser + 7}
	if want := "srt: connection rejected by this side: "; len(local.Error()) <= len(want) || local.Error()[:len(want)] != want {
		t.Errorf("got %q", local)
	}
}

func TestErrorTexts(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&MessageSizeError{Size: 1457, Max: 1456}, "srt: message of 1457 bytes is longer than the limit of 1456 bytes"},
		{&PeerError{Code: 4000}, "srt: the peer reports error 4000"},
		{&OptionError{Option: "x"}, `option "x" is refused`},
		{&OptionError{Option: "x", Value: "5", Problem: "is odd", Allowed: "2"}, `option "x" = 5 is odd: allowed 2`},
	} {
		if tt.err.Error() != tt.want {
			t.Errorf("got %q, want %q", tt.err, tt.want)
		}
	}
}
