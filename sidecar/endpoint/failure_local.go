package endpoint

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"net/http"
	"syscall"

	"github.com/weirline/weirline/srtcore"
)

// judgeLocal knows what is wrong on this side; most of it only a person can
// change.
func judgeLocal(err error) (Failure, bool) {
	if f, ok := errors.AsType[*FileError](err); ok {
		return judgeFile(f.Err), true
	}
	_, option := errors.AsType[*srtcore.OptionError](err)
	_, bad := errors.AsType[*URLError](err)
	_, noInterface := errors.AsType[*InterfaceError](err)
	switch {
	case option, bad:
		return Failure{BadOption, true, "Correct the URL; options are milliseconds and the names of srt-live-transmit."}, true
	case noInterface:
		return Failure{NotFound, false, "Check iface; it is tried again, since an interface may come later."}, true
	case errors.Is(err, syscall.EADDRINUSE):
		return Failure{Busy, true, "Choose another port, or stop who uses it."}, true
	case errors.Is(err, ErrNoCaller):
		return Failure{Timeout, true, "Raise listen_timeout, or leave it out to wait for ever."}, true
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return Failure{Other, true, "This host does not have that address: write one of its own, or none."}, true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return Failure{Full, false, "Too many files and sockets are open: raise LimitNOFILE of the service, or ulimit -n."}, true
	case errors.Is(err, syscall.ENODEV):
		return Failure{Other, false, "The system knows no interface for that group: name one (iface=)."}, true
	case errors.Is(err, fs.ErrPermission):
		return Failure{Other, true, "This user may not do that: change the permissions, or the address."}, true
	}
	return Failure{}, false
}

// judgeFile knows what is wrong with files. A full disk may have room again.
func judgeFile(err error) Failure {
	is := func(e error) bool { return errors.Is(err, e) }
	switch {
	case is(syscall.ENOSPC):
		return Failure{Full, false, "The disk is full: make room; writing goes on by itself."}
	case is(syscall.EDQUOT):
		return Failure{Full, false, "The user's quota is used up: make room; writing goes on by itself."}
	case is(syscall.EFBIG):
		return Failure{Full, false, "The file is as long as a file may be here: raise LimitFSIZE of the service, or write another file."}
	case is(fs.ErrNotExist):
		return Failure{Other, true, "Check the path; folders are not created."}
	case is(fs.ErrPermission), is(syscall.EROFS):
		return Failure{Other, true, "This user may not do that with this file: change the permissions, or the path."}
	case is(syscall.EISDIR), is(syscall.ENOTDIR):
		return Failure{Other, true, "The path must name a file, and all before it folders."}
	}
	return Failure{Other, false, "Check the disk; it is tried again."}
}

// judgeTLS knows why a server is not believed to be who it should be.
func judgeTLS(err error) (Failure, bool) {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, name := errors.AsType[x509.HostnameError](err)
	_, verify := errors.AsType[*tls.CertificateVerificationError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	switch {
	case name:
		return Failure{Refused, true, "The server's certificate is for another name: write the one that it is for."}, true
	case unknown, invalid, verify:
		return Failure{Refused, true, "The server's certificate is not trusted here: renew it, or add its authority to the system's."}, true
	case plain, errors.Is(err, http.ErrSchemeMismatch):
		return Failure{Refused, true, "The server does not speak TLS at that port: write http:// or another port."}, true
	case alert:
		return Failure{Refused, true, "The server refuses the TLS connection; its log says why."}, true
	}
	return Failure{}, false
}

// judgeStatus sorts what HTTP servers answer. A stream that is not there may come;
// wrong credentials are not tried again.
func judgeStatus(code int) Failure {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return Failure{Refused, true, "Check user and password, as in http://user:password@host/, or the key in the URL."}
	case http.StatusNotFound, http.StatusGone:
		return Failure{NotFound, false, "Check the path, or start the stream at the server."}
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return Failure{Timeout, false, "The server waited for somebody else; its log says for whom."}
	case http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests, http.StatusLocked:
		return Failure{Refused, false, "The server is busy with another one: stop that, or wait."}
	}
	switch code / 100 {
	case 3:
		return Failure{Refused, true, "The media are at another address: write the one that the server names."}
	case 4:
		return Failure{Refused, true, "The server does not take the request: check the address, and the method and content type behind the #."}
	case 5:
		return Failure{Refused, false, "The server has trouble; its log says what."}
	}
	return Failure{Other, false, "This is no server for media."}
}
