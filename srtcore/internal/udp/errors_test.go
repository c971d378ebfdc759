package udp

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

func TestListenErrorsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		addr string
		cfg  Config
		err  error
		want string
	}{
		{"0.0.0.0:9000", Config{}, syscall.EADDRINUSE, "another program listens on UDP port 9000; choose another port or stop it"},
		{"10.0.0.1:9000", Config{}, syscall.EADDRNOTAVAIL, "no interface of this machine has the address 10.0.0.1; use one that does or 0.0.0.0 for all"},
		{"[2001:db8::1]:9000", Config{}, syscall.EADDRNOTAVAIL, "use one that does or :: for all"},
		{"[::]:9000", Config{}, syscall.EAFNOSUPPORT, "no support for the address family"},
		{"0.0.0.0:9000", Config{Device: "eth9"}, option("SO_BINDTODEVICE", syscall.ENODEV), `there is no network interface "eth9"`},
		{"0.0.0.0:9000", Config{Device: "eth0"}, option("SO_BINDTODEVICE", syscall.EPERM), "CAP_NET_RAW"},
		{"0.0.0.0:80", Config{}, syscall.EACCES, "choose a higher port"},
		{"0.0.0.0:9000", Config{}, syscall.EMFILE, "cannot listen on 0.0.0.0:9000"},
	} {
		err := listenError(netip.MustParseAddrPort(c.addr), c.cfg, c.err)
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.addr) {
			t.Errorf("error %q does not say %q", err, c.want)
		}
	}
}
