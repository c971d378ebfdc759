package access

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/weirline/weirline/srtcore"

	"github.com/weirline/weirline/sidecar/config"
)

// question is what the hook is told of a caller.
type question struct {
	Listener string `json:"listener"`
	Peer     string `json:"peer"`
	StreamID string `json:"streamId"`
	Stream   string `json:"stream"`
	Mode     string `json:"mode"` // publish or play
	User     string `json:"user"`
}

const (
	hookTimeout = 2 * time.Second
	// hookParallel bounds the requests that a hook gets at a time; others wait for
	// their turn, and their time runs.
	hookParallel = 64
	// rejHookTimeout follows HTTP, as its neighbours do.
	rejHookTimeout = srtcore.RejServerError + 4
)

// hook asks an HTTP address about callers. The status alone decides: 2xx accepts,
// 4xx refuses, anything else is the hook's own trouble, and refuses too.
type hook struct {
	url     string
	timeout time.Duration
	turn    chan struct{}
	client  *http.Client
}

func newHook(cfg config.Hook) *hook {
	h := &hook{url: cfg.URL, timeout: cfg.Timeout, turn: make(chan struct{}, hookParallel)}
	if h.timeout <= 0 {
		h.timeout = hookTimeout
	}
	h.client = &http.Client{
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second,
			DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		},
		// A request to decide is not for somebody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h
}

// same reports whether h asks as o does.
func (h *hook) same(o *hook) bool { return h != nil && h.url == o.url && h.timeout == o.timeout }

func (h *hook) close() {
	if h != nil {
		h.client.CloseIdleConnections()
	}
}

// ask returns nil if the hook accepts. A caller waits for the turn of his
// address first, so that those of one address do not take all others' turns.
func (h *hook) ask(ctx context.Context, ofOne chan struct{}, q question) *Refusal {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	for _, turn := range []chan struct{}{ofOne, h.turn} {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return refuse("hook-failed", rejHookTimeout, "too many callers wait for the hook")
		}
	}
	status, err := h.post(ctx, q)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return refuse("hook-failed", rejHookTimeout, "the hook did not answer within "+h.timeout.String())
	case err != nil:
		return refuse("hook-failed", srtcore.RejServerError, "the hook cannot be asked: "+err.Error())
	}
	return judge(status)
}

// post sends the question and returns the status. The answer's body is not read.
func (h *hook) post(ctx context.Context, q question) (int, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the URL is not valid")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "weirline")
	rsp, err := h.client.Do(req)
	if err != nil {
		return 0, bare(err)
	}
	_ = rsp.Body.Close()
	return rsp.StatusCode, nil
}

// bare takes the URL from an error: a token may be part of it.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// judge is what a status means for the caller.
func judge(status int) *Refusal {
	if status >= 200 && status <= 299 {
		return nil
	}
	text := "the hook answered " + strings.TrimSpace(strconv.Itoa(status)+" "+http.StatusText(status))
	if status >= 400 && status <= 499 {
		return refuse("hook", rejectOf(status), text)
	}
	return refuse("hook-failed", srtcore.RejServerError, text)
}

// rejectOf is the code of a 4xx status: its own if SRT has one.
func rejectOf(status int) srtcore.RejectReason {
	switch code := srtcore.RejPredefined + srtcore.RejectReason(status); code {
	case srtcore.RejBadRequest, srtcore.RejUnauthorized, srtcore.RejOverload, srtcore.RejForbidden, srtcore.RejNotFound,
		srtcore.RejBadMode, srtcore.RejUnacceptable, srtcore.RejConflict, srtcore.RejUnsupportedMedia,
		srtcore.RejLocked, srtcore.RejFailedDependency:
		return code
	}
	if status == http.StatusTooManyRequests {
		return srtcore.RejOverload
	}
	return srtcore.RejForbidden
}
