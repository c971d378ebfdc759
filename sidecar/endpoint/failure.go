package endpoint

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"syscall"

	"github.com/weirline/weirline/srtcore"
)

// Kind says in one word why an end could not be opened or was lost.
type Kind int

const (
	// Other: anything without a word of its own.
	Other Kind = iota
	// BadOption: the URL or an option is wrong.
	BadOption
	// Refused: the peer, or this side, said no.
	Refused
	// NotFound: the peer does not have it, or no such host.
	NotFound
	// Timeout: no answer.
	Timeout
	// Busy: the local address is in use.
	Busy
)

// Failure is an error, judged.
type Failure struct {
	Kind Kind
	// Final: trying the same again cannot help, or must not be done.
	Final  bool
	Advice string // what to do, one sentence; may be empty
}

// Judge says what kind of failure err is. err is not nil.
func Judge(err error) Failure {
	var rej *srtcore.RejectError
	if errors.As(err, &rej) {
		return judgeReject(rej.Reason)
	}
	if f, ok := judgeLocal(err); ok {
		return f
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return Failure{NotFound, false, "Check the host name."}
	}
	var ne net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout() {
		return Failure{Timeout, false, ""}
	}
	if errors.Is(err, syscall.ENETUNREACH) || errors.Is(err, syscall.EHOSTUNREACH) {
		return Failure{Timeout, false, "The host cannot be reached from here."}
	}
	return Failure{Kind: Other}
}

// judgeLocal knows what is wrong on this side; only a person can change that.
func judgeLocal(err error) (Failure, bool) {
	var option *srtcore.OptionError
	var bad *URLError
	switch {
	case errors.As(err, &option), errors.As(err, &bad):
		return Failure{BadOption, true, "Correct the URL; options are milliseconds and the names of srt-live-transmit."}, true
	case errors.Is(err, syscall.EADDRINUSE):
		return Failure{Busy, true, "Choose another port, or stop who uses it."}, true
	case errors.Is(err, ErrNoCaller):
		return Failure{Timeout, true, ""}, true
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, fs.ErrPermission):
		return Failure{Other, true, ""}, true
	}
	return Failure{}, false
}

// judgeReject sorts the reasons of a refused handshake; the error's own text
// says what to do. Wrong credentials are final: repeated guessing is what
// servers ban callers for. A refusal that can pass by itself (full, closing, the
// stream not there yet) is not.
func judgeReject(r srtcore.RejectReason) Failure {
	switch r {
	case srtcore.RejBadSecret, srtcore.RejUnsecure, srtcore.RejCryptoMode,
		srtcore.RejUnauthorized, srtcore.RejForbidden,
		srtcore.RejBadRequest, srtcore.RejBadMode, srtcore.RejUnacceptable, srtcore.RejKeyNotSupported,
		srtcore.RejFilePath, srtcore.RejUnsupportedMedia, srtcore.RejUnimplemented,
		srtcore.RejVersion, srtcore.RejVersionNotSupported, srtcore.RejRogue,
		srtcore.RejMessageAPI, srtcore.RejCongestion, srtcore.RejFilter, srtcore.RejGroup:
		return Failure{Kind: Refused, Final: true}
	case srtcore.RejNotFound, srtcore.RejHostNotFound:
		return Failure{Kind: NotFound}
	case srtcore.RejTimeout:
		return Failure{Kind: Timeout}
	}
	return Failure{Kind: Refused}
}
