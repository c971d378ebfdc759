package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
)

// cookieSpan is how long a cookie is good, at least; twice that at most.
const cookieSpan = time.Minute

// cookie binds a caller's address to a span of time, under a secret.
func (l *listener) cookie(now mono.Time, peer netip.AddrPort) uint32 {
	return l.cookieAt(int64(now)/int64(cookieSpan), peer)
}

func (l *listener) cookieAt(span int64, peer netip.AddrPort) uint32 {
	mac := hmac.New(sha256.New, l.secret[:])
	var b [8 + 16 + 2]byte
	binary.BigEndian.PutUint64(b[:], uint64(span))
	addr := peer.Addr().As16()
	copy(b[8:], addr[:])
	binary.BigEndian.PutUint16(b[24:], peer.Port())
	mac.Write(b[:])
	c := binary.BigEndian.Uint32(mac.Sum(nil))
	return max(c, 1)
}

// validCookie accepts the cookie of this span of time and of the one before.
func (l *listener) validCookie(now mono.Time, peer netip.AddrPort, cookie uint32) bool {
	span := int64(now) / int64(cookieSpan)
	return cookie == l.cookieAt(span, peer) || cookie == l.cookieAt(span-1, peer)
}
