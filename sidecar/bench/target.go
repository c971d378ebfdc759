package bench

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// target is where the sender of a run calls.
type target struct {
	host, port string
	args       []string // options of the target that replace the load's
}

// targetKeys are the keys a target may have: those that the far end decides.
var targetKeys = []string{"latency", "passphrase", "pbkeylen", "streamid"}

// parseTarget takes host:port and srt://host:port?key=value.
func parseTarget(s string) (target, error) {
	rest, query, _ := strings.Cut(strings.TrimPrefix(s, "srt://"), "?")
	host, port, err := net.SplitHostPort(rest)
	if err != nil || host == "" || strings.Contains(rest, "/") {
		return target{}, fmt.Errorf("--target %q is refused: allowed host:port and srt://host:port", rest)
	}
	t := target{host: host, port: port}
	for pair := range strings.SplitSeq(query, "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		if key == "mode" && value == "caller" {
			continue
		}
		// A plus is a plus, as in every other SRT address.
		if value, err = url.PathUnescape(value); err != nil || !slices.Contains(targetKeys, key) {
			return target{}, fmt.Errorf("--target: %q is refused: allowed %s", key, strings.Join(targetKeys, ", "))
		}
		t.args = append(t.args, "--"+key, value)
	}
	return t, nil
}

// where is the target, or a free port here.
func (o RunOptions) where() (target, error) {
	if o.Target != "" {
		return parseTarget(o.Target)
	}
	port, err := freePort()
	return target{host: "127.0.0.1", port: port}, err
}
