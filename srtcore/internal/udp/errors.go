package udp

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
)

// listenError names the address and says what the user can do about the error.
func listenError(laddr netip.AddrPort, cfg Config, err error) error {
	err = bareError(err)
	hint := remedy(laddr, cfg, err)
	if hint == "" {
		return fmt.Errorf("udp: cannot listen on %s: %w", laddr, err)
	}
	return fmt.Errorf("udp: cannot listen on %s: %w: %s", laddr, err, hint)
}

// bareError strips the layers that package net puts around an error number,
// since the address is named already.
func bareError(err error) error {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && !keepsDetail(err) {
		return commonErrno(errno)
	}
	return err
}

// optionError is a refused socket option; its name must stay in the message.
type optionError struct {
	option string
	err    error
}

func (e *optionError) Error() string { return e.option + ": " + e.err.Error() }
func (e *optionError) Unwrap() error { return e.err }

func keepsDetail(err error) bool {
	_, ok := errors.AsType[*optionError](err)
	return ok
}

func option(name string, err error) error {
	if err == nil {
		return nil
	}
	return &optionError{name, err}
}

func remedy(laddr netip.AddrPort, cfg Config, err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("another program listens on UDP port %d; choose another port or stop it", laddr.Port())
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf("no interface of this machine has the address %s; use one that does or %s for all", laddr.Addr(), wildcard(laddr.Addr()))
	case errors.Is(err, syscall.EAFNOSUPPORT):
		return "this system has no support for the address family; use an address of the other one"
	case errors.Is(err, syscall.ENODEV):
		return fmt.Sprintf("there is no network interface %q", cfg.Device)
	case cfg.Device != "" && errors.Is(err, syscall.EPERM):
		return "binding to a network interface needs the capability CAP_NET_RAW"
	case errors.Is(err, syscall.EACCES) && laddr.Port() < 1024:
		return "ports below 1024 are for privileged programs; choose a higher port"
	}
	return ""
}

func wildcard(a netip.Addr) netip.Addr {
	if a.Is4() {
		return netip.IPv4Unspecified()
	}
	return netip.IPv6Unspecified()
}
