package element

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"github.com/weirline/weirline/srtcore"
)

// verdict is what an error means.
type verdict struct {
	final  bool // trying the same again cannot help
	report Report
}

// The codes of reports are those of the stock elements, which programs may know:
// OpenRead or OpenWrite for what they find out at the start, Read or Write for what
// comes after it, NotAuthorized for secrets. What happened exactly is in the reason.

// judge says what the end of an attempt to connect means, or of a connection.
func (r *run) judge(err error, connected bool) verdict {
	v := verdict{report: Report{Code: r.code(Read, Write), Debug: err.Error()}}
	what := "Cannot connect: "
	if connected {
		what = "Connection to " + r.cfg.Addr + " lost: "
	}
	v.report.Text = what + strings.TrimPrefix(err.Error(), "srt: ")
	v.report.Reason, v.report.ReasonCode = nameOf(err)
	if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
		v.final = finalRejection(rej.Reason)
		if secret(rej.Reason) {
			v.report.Code = NotAuthorized
		}
		return v
	}
	if remedy, ok := localFault(err); ok {
		// What has worked once, a name or a local address, may work again.
		_, option := errors.AsType[*srtcore.OptionError](err)
		v.final = option || !r.hasMet()
		v.report.Code = r.code(OpenRead, OpenWrite)
		v.report.Text += remedy
	}
	return v
}

// hasMet says whether there has been a connection.
func (r *run) hasMet() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.met
}

// judgeListen says why a port could not be bound.
func (r *run) judgeListen(err error) Report {
	rep := Report{Code: r.code(OpenRead, OpenWrite), Debug: err.Error()}
	rep.Text = "Cannot bind to " + r.cfg.Addr + ": " + strings.TrimPrefix(err.Error(), "srt: ")
	rep.Reason, rep.ReasonCode = nameOf(err)
	remedy, _ := localFault(err)
	rep.Text += remedy
	return rep
}

// localFault knows what is wrong on this side; only a person can change that.
func localFault(err error) (remedy string, ok bool) {
	var option *srtcore.OptionError
	var dns *net.DNSError
	switch {
	case errors.As(err, &option), errors.Is(err, syscall.EADDRINUSE): // srtcore says what to do
		return "", true
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; it is the property localaddress", true
	case errors.Is(err, fs.ErrPermission):
		return "; the system does not allow it, see port numbers below 1024 and firewalls", true
	case errors.As(err, &dns) && dns.IsNotFound:
		return "; check the host name in the URI", true
	}
	return "", false
}

// nameOf names the reason for programs. The number is SRT's, 0 where it has none.
func nameOf(err error) (string, int) {
	var dns *net.DNSError
	if rej, ok := errors.AsType[*srtcore.RejectError](err); ok {
		return rej.Reason.String(), int(rej.Reason)
	}
	if option, ok := errors.AsType[*srtcore.OptionError](err); ok {
		return "bad option " + option.Option, 0
	}
	switch {
	case errors.Is(err, srtcore.ErrConnTimeout):
		return srtcore.RejTimeout.String(), int(srtcore.RejTimeout)
	case errors.Is(err, srtcore.ErrPeerIdle):
		return "peer idle", 0
	case errors.Is(err, srtcore.ErrPeerClosed):
		return "peer closed", 0
	case errors.Is(err, syscall.EADDRINUSE):
		return "address in use", 0
	case errors.As(err, &dns):
		return "host not found", 0
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout", int(srtcore.RejTimeout)
	}
	return "system error", int(srtcore.RejSystem)
}

// finalRejection tells refusals that time does not change. Wrong credentials
// are among them: repeated guessing is what servers ban callers for.
func finalRejection(r srtcore.RejectReason) bool {
	switch r {
	case srtcore.RejBadSecret, srtcore.RejUnsecure, srtcore.RejCryptoMode,
		srtcore.RejUnauthorized, srtcore.RejForbidden,
		srtcore.RejBadRequest, srtcore.RejBadMode, srtcore.RejUnacceptable, srtcore.RejKeyNotSupported,
		srtcore.RejFilePath, srtcore.RejUnsupportedMedia, srtcore.RejUnimplemented,
		srtcore.RejVersion, srtcore.RejVersionNotSupported, srtcore.RejRogue,
		srtcore.RejMessageAPI, srtcore.RejCongestion, srtcore.RejFilter, srtcore.RejGroup:
		return true
	}
	return false
}

// secret says that the refusal is about who the caller is.
func secret(reason srtcore.RejectReason) bool {
	switch reason {
	case srtcore.RejBadSecret, srtcore.RejUnsecure, srtcore.RejUnauthorized, srtcore.RejForbidden:
		return true
	}
	return false
}

// openReport is the report of settings that cannot be used.
func openReport(code Code, err error) *Report {
	rep := &Report{Code: code, Text: "Cannot open: " + err.Error()}
	rep.Reason, rep.ReasonCode = nameOf(err)
	if _, ok := errors.AsType[*srtcore.OptionError](err); !ok {
		rep.Reason, rep.ReasonCode = "bad option", 0
	}
	return rep
}
