package execwrap

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// sameUser accepts connections of this user's processes, and root's, alone. The
// path is a secret, but it stands in the program's command line, which others
// may read.
type sameUser struct{ net.Listener }

// Accept implements net.Listener.
func (l sameUser) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		uid, ok := owner(c)
		if !ok || uid == os.Getuid() || uid == 0 {
			return c, nil
		}
		c.Close()
	}
}

// owner finds who has the other side of a loopback connection; false: the
// system does not tell.
func owner(c net.Conn) (uid int, ok bool) {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return 0, false
	}
	defer f.Close()
	want := procAddr(c.RemoteAddr()) + " " + procAddr(c.LocalAddr()) + " "
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, line, _ := strings.Cut(lines.Text(), ": ")
		if !strings.HasPrefix(line, want) {
			continue
		}
		if fields := strings.Fields(line); len(fields) > 6 {
			uid, err := strconv.Atoi(fields[6])
			return uid, err == nil
		}
	}
	return 0, false
}

// procAddr writes an IPv4 address as /proc/net/tcp does on a little-endian
// machine; on another no line is found.
func procAddr(a net.Addr) string {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return "-"
	}
	ip := ap.Addr().Unmap().AsSlice()
	slices.Reverse(ip)
	return strings.ToUpper(hex.EncodeToString(ip)) + fmt.Sprintf(":%04X", ap.Port())
}
