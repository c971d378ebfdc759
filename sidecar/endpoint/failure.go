package endpoint

import (
	"context"
	"errors"
	"io"
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
	// Full: no room to write, or something else of this machine is used up.
	Full
	// Lost: the connection was there and has ended.
	Lost
)

var kinds = [...]string{"error", "bad option", "refused", "not found", "timeout", "address in use", "full", "lost"}

func (k Kind) String() string { return kinds[k] }

// Failure is an error, judged.
type Failure struct {
	Kind Kind
	// Final: trying the same again cannot help, or must not be done.
	Final bool
	// Advice is what to do, one sentence. Empty only where the error says it
	// itself, as srtcore's do.
	Advice string
}

// Judge says what kind of failure err is. err is not nil.
func Judge(err error) Failure {
	for _, know := range []func(error) (Failure, bool){judgePeer, judgeLocal, judgeTLS, judgeNet} {
		if f, ok := know(err); ok {
			return f
		}
	}
	return Failure{Other, false, "It is tried again; the log says what happens."}
}

// judgePeer knows what peers answer.
func judgePeer(err error) (Failure, bool) {
	if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
		return judgeReject(rej.Reason), true
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		return judgeStatus(s.Code), true
	}
	return Failure{}, false
}

// judgeNet knows what networks do.
func judgeNet(err error) (Failure, bool) {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return Failure{NotFound, false, "Check the host name."}, true
		}
		return Failure{Timeout, false, "The name server does not answer; check it, or write an address instead of the name."}, true
	}
	if is(syscall.ENETUNREACH, syscall.EHOSTUNREACH) {
		return Failure{Timeout, false, "The host cannot be reached from here: check the address and the routes; for multicast name the interface (iface=)."}, true
	}
	ne, ok := errors.AsType[net.Error](err)
	switch {
	case is(context.DeadlineExceeded) || ok && ne.Timeout():
		return Failure{Timeout, false, "Check that the other side is running and that no firewall is in between."}, true
	case is(syscall.ECONNREFUSED):
		return Failure{Refused, false, "Nothing listens there: start it, or check the address and the port."}, true
	case is(syscall.ENOENT):
		return Failure{NotFound, false, "Nothing listens at that path: start it, or check the path."}, true
	case is(syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, io.ErrUnexpectedEOF, errEarly):
		return Failure{Lost, false, "The other side has ended the connection; its log says why."}, true
	case is(errGaveWay, errReplaced):
		return Failure{Lost, false, "Only one is read at a time: stop one of them, or give each an address of its own."}, true
	case is(syscall.EMSGSIZE):
		return Failure{Other, false, "A datagram was too long for the network: lower pkt_size."}, true
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
