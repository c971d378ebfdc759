// Package client asks a running daemon through its control API, over TCP or a
// unix socket.
//
// Lives here: Client, its address and token, the reading of streams.
// May import: control for the types of the answers, net/http. Never: daemon,
// route's running parts; it is another process that answers.
package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/weirline/weirline/sidecar/control"
)

// Default is where a daemon listens unless it was told otherwise.
const Default = "http://127.0.0.1:9711"

const (
	answerTimeout = 60 * time.Second
	maxAnswer     = 256 << 20
	maxLine       = 64 << 20 // of a stream
)

// Client speaks to one daemon.
type Client struct {
	base  string
	token string
	http  *http.Client
}

// New takes http://host:port, host:port or unix:PATH; an empty address is
// Default. Nothing is sent yet.
func New(addr, token string) (*Client, error) {
	if addr == "" {
		addr = Default
	}
	tr := &http.Transport{ForceAttemptHTTP2: false, MaxIdleConns: 2}
	c := &Client{token: token, http: &http.Client{Transport: tr}}
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		path = strings.Replace(path, "///", "/", 1) // unix:///PATH is the same
		if strings.Trim(path, "/") == "" {
			return nil, fmt.Errorf("API address %q has no path: allowed unix:PATH, such as unix:/run/weirline/control.sock", addr)
		}
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
		c.base = "http://weirline"
		return c, nil
	}
	if !strings.Contains(addr, "://") {
		addr = "http://" + addr
	}
	u, err := url.Parse(addr)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return nil, fmt.Errorf("API address %q is refused: allowed http://host:port, host:port and unix:PATH", addr)
	}
	c.base = u.Scheme + "://" + u.Host
	return c, nil
}

// Error is a refusal of the daemon.
type Error struct {
	Status int
	Detail string
}

func (e *Error) Error() string { return e.Detail }

// Do sends in, if it is not nil, as JSON and reads the answer into out, if that
// is not nil: an io.Writer gets it as it is.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	resp, err := c.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := io.LimitReader(resp.Body, maxAnswer)
	switch out := out.(type) {
	case nil:
		return nil
	case io.Writer:
		_, err = io.Copy(out, body)
		return err
	}
	if err := json.NewDecoder(body).Decode(out); err != nil {
		return fmt.Errorf("the answer to %s %s is not what was expected; is this a weirline daemon of this version? %w", method, path, err)
	}
	return nil
}

// send returns an answer that is a success.
func (c *Client) send(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(err)
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	var p control.Problem
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if json.Unmarshal(text, &p) != nil || p.Detail == "" {
		p.Detail = "answer " + resp.Status
	}
	return nil, &Error{resp.StatusCode, p.Detail}
}

// unreachable says what to look at if nobody answers.
func unreachable(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("no daemon answers: %w; is `weirline serve` running, and is its control.listen this address (--api)?", op)
	}
	return err
}

// Stream calls stats with every sample and event with every event after since,
// until ctx ends, the daemon goes, or one of them returns an error.
func (c *Client) Stream(ctx context.Context, since uint64, stats func(*control.Live) error, event func(control.Event) error) error {
	resp, err := c.send(ctx, http.MethodGet, fmt.Sprintf("/v1/stats/stream?events=%d", since), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	kind := ""
	for in.Scan() {
		key, value, _ := strings.Cut(in.Text(), ": ")
		switch {
		case key == "event":
			kind = value
		case key == "data" && kind == "stats":
			err = decode(value, stats)
		case key == "data" && kind == "event":
			err = decode(value, func(e *control.Event) error { return event(*e) })
		}
		if err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return errors.New("the daemon ended the stream")
}

func decode[T any](text string, take func(*T) error) error {
	v := new(T)
	if err := json.Unmarshal([]byte(text), v); err != nil {
		return err
	}
	return take(v)
}

// Close gives up idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
