package ingest

import (
	"context"
	"net/http"
	"sync"

	"github.com/weirline/weirline/sidecar/endpoint"
)

// play answers with what SRT receives. It connects, or waits for a caller,
// before the status is sent; Range and Icy headers are of no meaning here.
func (h *Handler) play(w http.ResponseWriter, r *http.Request, end End, name string) {
	log := h.log().With("route", name)
	ctx, cancel := h.untilEnding(r.Context())
	defer cancel()
	src, err := firstOpen(ctx, h.GiveUp, end.OpenSource)
	if ctx.Err() != nil {
		if err == nil {
			src.Close()
		}
		log.Info("client left before a source came")
		fail(w, http.StatusServiceUnavailable, stopping)
		return
	}
	if err != nil {
		h.ended(Outcome{Err: err, Told: true})
		h.refuse(w, log, err)
		return
	}
	w.Header().Set("Content-Type", "video/mp2t")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	http.NewResponseController(w).Flush()
	opened := &openedSource{SourceEnd: end, first: src}
	defer opened.drop()
	_, err = h.run(ctx, name, opened, endpoint.Reply(w))
	if err == nil || ctx.Err() != nil {
		return
	}
	h.ended(Outcome{Err: err})
	log.Warn("reply broken off", "err", err)
	panic(http.ErrAbortHandler) // a whole reply would say that the stream ended well
}

// openedSource hands out the session that was opened before the route ran.
type openedSource struct {
	endpoint.SourceEnd
	mu    sync.Mutex
	first endpoint.Source
}

// OpenSource implements endpoint.SourceEnd.
func (o *openedSource) OpenSource(ctx context.Context) (endpoint.Source, error) {
	if first := o.take(); first != nil {
		return first, nil
	}
	return o.SourceEnd.OpenSource(ctx)
}

func (o *openedSource) take() endpoint.Source {
	o.mu.Lock()
	defer o.mu.Unlock()
	first := o.first
	o.first = nil
	return first
}

// drop ends the session if the route never came to it.
func (o *openedSource) drop() {
	if first := o.take(); first != nil {
		first.Close()
	}
}
