package ingest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weirline/weirline/sidecar/inflow"
)

// piece is the body of one PUT. GStreamer's souphttpclientsink sends a stream as
// many of them, one after another; each says its length, and all but the first
// where it begins: Content-Range: bytes 1316-2631/*. A client that wants its
// connection closed behind the PUT has no more to send.
type piece struct {
	body  io.Reader
	rc    *http.ResponseController
	conn  *inflow.Conn // may be nil
	start int64        // where it begins; -1: it does not say
	known bool         // it may be one of several, as its length was declared
	last  bool         // the stream ends with it; the reader's until taken is closed

	// Of the one who reads.
	skip int64 // bytes of it that are here already
	err  error // of its end

	taken chan struct{} // closed when it has been read to its end
}

func newPiece(w http.ResponseWriter, r *http.Request) (*piece, error) {
	p := &piece{
		body: r.Body, rc: http.NewResponseController(w), conn: connOf(r), start: -1,
		known: r.ContentLength >= 0 && !r.Close, taken: make(chan struct{}),
	}
	text := r.Header.Get("Content-Range")
	if text == "" {
		p.last = !p.known
		return p, nil
	}
	p.known = true
	first, _, _ := strings.Cut(strings.TrimPrefix(text, "bytes "), "-")
	n, err := strconv.ParseInt(first, 10, 64)
	if err != nil || n < 0 || !strings.HasPrefix(text, "bytes ") {
		return nil, fmt.Errorf("Content-Range %q is not known: write bytes FIRST-LAST/*, or leave it out", text)
	}
	p.start = n
	return p, nil
}

func (p *piece) read(dst []byte) (int, error) { return p.body.Read(dst) }

// cut removes what is to be skipped from the n bytes that were read.
func (p *piece) cut(dst []byte, n int) int {
	if p.skip == 0 || n == 0 {
		return n
	}
	k := min(p.skip, int64(n))
	p.skip -= k
	return copy(dst, dst[k:n])
}

// feed has the connection read on the common tick while the piece is read.
func (p *piece) feed(on bool) {
	if p.conn != nil {
		p.conn.Feed(on)
	}
}

// interrupt unblocks read.
func (p *piece) interrupt() { _ = p.rc.SetReadDeadline(time.Now()) }

// pieceKey is what PUTs have in common that continue each other.
type pieceKey struct{ host, agent, url string }

func keyOf(r *http.Request, raw string) pieceKey {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr // a unix socket's
	}
	return pieceKey{host, r.UserAgent(), raw}
}
