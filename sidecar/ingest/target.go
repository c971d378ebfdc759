package ingest

import (
	"errors"
	"net/url"
	"strings"
)

var errNoTarget = errors.New("put the SRT address into the path: /srt://host:port?latency=120 (write # as %23), or /srt?url= and the fully escaped address")

var errEmptyID = errors.New("streamid is empty: a # in an address must be written %23, as in streamid=%23!::r=live/x; for none leave streamid out")

// targetURL finds the srt:// URL in the request line, verbatim.
func targetURL(requestURI string) (string, error) {
	uri := origin(requestURI)
	for _, prefix := range []string{"/srt://", "/srt:/", "/srt/"} {
		if rest, ok := strings.CutPrefix(uri, prefix); ok && rest != "" && rest[0] != '/' {
			return "srt://" + rest, nil
		}
	}
	if query, ok := strings.CutPrefix(uri, "/srt?"); ok {
		return queryTarget(query)
	}
	return "", errNoTarget
}

// checkID refuses a stream id that is named but empty. What a client sends has
// lost everything behind a raw #, and with it the whole of an id like #!::r=x.
func checkID(target string) error {
	_, query, _ := strings.Cut(target, "?")
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "streamid" || pair == "streamid=" || pair == "srt_streamid=" {
			return errEmptyID
		}
	}
	return nil
}

// origin strips scheme and authority of a request sent as to a proxy.
func origin(uri string) string {
	if !strings.HasPrefix(uri, "http://") {
		return uri
	}
	if i := strings.IndexByte(uri[len("http://"):], '/'); i >= 0 {
		return uri[len("http://")+i:]
	}
	return "/"
}

// queryTarget takes url=<escaped>. A second pair means that the address was not
// escaped, and its options would be lost.
func queryTarget(query string) (string, error) {
	v, ok := strings.CutPrefix(query, "url=")
	if !ok || strings.Contains(v, "&") {
		return "", errors.New("after /srt?url= the whole address must be escaped: ? as %3F, & as %26, = as %3D, # as %2523")
	}
	raw, err := url.PathUnescape(v)
	if err != nil {
		return "", errors.New("after /srt?url= stands a lone %; write it %25")
	}
	if rest, ok := strings.CutPrefix(raw, "srt://"); !ok || rest == "" {
		return "", errors.New("after /srt?url= an srt:// address is wanted")
	}
	return raw, nil
}
