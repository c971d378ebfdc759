package ingest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/weirline/weirline/sidecar/endpoint"
	"github.com/weirline/weirline/sidecar/route"
)

const (
	// joinFor is how long a session waits for its client's next PUT.
	joinFor = 2 * time.Second
	// firstWait is how long the answer to the first PUT waits for an output that
	// does not move: a refusal should be its status.
	firstWait = time.Second
)

// joins are the sessions that consecutive PUTs of one client share.
type joins struct {
	mu     sync.Mutex
	all    map[pieceKey]*joint
	closed bool
	wg     sync.WaitGroup // of the routes
}

// joint is one session: a route whose source is the bodies of several requests.
type joint struct {
	key   pieceKey
	body  *joinedBody
	claim *claim
	rt    *route.Route  // nil: could not begin
	asked int           // requests that wait for an answer
	ended chan struct{} // closed when the route has ended, or could not begin
	err   error         // set before ended is closed
	until time.Time     // a failure nobody was told of is told until then
}

// put takes a PUT that is one of several: one that says its length or its
// place, or that follows such a one. It returns false if the PUT is a stream of
// its own.
func (h *Handler) put(w http.ResponseWriter, r *http.Request, raw string) bool {
	p, err := newPiece(w, r)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return true
	}
	j, fresh := h.join(keyOf(r, raw), p)
	if j == nil {
		return false
	}
	defer h.leave(j, p)
	if fresh {
		if err := h.begin(r, j); err != nil {
			h.drop(j, err)
			h.refuse(w, h.log(), err)
			return true
		}
	}
	h.answer(w, r, j, p, fresh)
	return true
}

// join finds the session that p continues, or makes one for it to begin; nil:
// p is for neither.
func (h *Handler) join(key pieceKey, p *piece) (j *joint, fresh bool) {
	h.joins.mu.Lock()
	defer h.joins.mu.Unlock()
	for k, old := range h.joins.all {
		if !old.until.IsZero() && time.Now().After(old.until) {
			delete(h.joins.all, k)
		}
	}
	if j = h.joins.all[key]; j != nil {
		if !j.until.IsZero() {
			delete(h.joins.all, key)
			j.asked++
			return j, false
		}
		if j.body.offer(p) {
			j.asked++
			return j, false
		}
		if !j.body.isOver() {
			return nil, false // its client is sending: this is another's
		}
	}
	if !p.known || h.joins.closed {
		return nil, false
	}
	j = &joint{key: key, body: newJoinedBody(p, h.joinFor(), h.log()), ended: make(chan struct{})}
	if h.joins.all == nil {
		h.joins.all = map[pieceKey]*joint{}
	}
	h.joins.all[key] = j
	j.asked++
	h.joins.wg.Add(1)
	return j, true
}

func (b *joinedBody) isOver() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over || b.hurried
}

func (h *Handler) joinFor() time.Duration {
	if h.Join == 0 {
		return joinFor
	}
	return h.Join
}

// leave ends what join began: the request has its answer.
func (h *Handler) leave(j *joint, p *piece) {
	p.feed(false)
	h.joins.mu.Lock()
	defer h.joins.mu.Unlock()
	j.asked--
}

// begin opens a new session and runs its route, which outlives the request.
func (h *Handler) begin(r *http.Request, j *joint) error {
	end, err := h.parse(j.key.url)
	if err != nil {
		return err
	}
	name := h.name()
	log := h.log().With("route", name)
	h.announce(r, log, end)
	if j.claim, err = h.occupy(r, end); err != nil {
		end.Close()
		return err
	}
	out, drop, err := h.connectFirst(r, end)
	if err != nil {
		end.Close()
		j.claim.release()
		return err
	}
	j.body.log = log
	j.body.idle = func(on bool) { j.claim.rest(on, func() { j.body.finishSoon() }) }
	src := endpoint.Body(j.body)
	endpoint.FitMessages(src, end)
	j.rt = h.route(name, src, out)
	ctx := h.base
	if ctx == nil {
		ctx = context.Background()
	}
	go func() {
		err := h.runRoute(ctx, j.rt)
		drop()
		end.Close()
		j.claim.release()
		if err != nil {
			log.Warn("joined PUTs ended", "err", err)
		}
		h.drop(j, err)
	}()
	return nil
}

// drop forgets a session that has ended. A failure that came between two PUTs
// is kept for a while: the next is told, and does not try the same again.
func (h *Handler) drop(j *joint, err error) {
	h.joins.mu.Lock()
	defer h.joins.mu.Unlock()
	j.err = err
	if h.joins.all[j.key] == j {
		if err != nil && j.asked == 0 && endpoint.Judge(err).Final {
			j.until = time.Now().Add(h.joinFor())
		} else {
			delete(h.joins.all, j.key)
		}
	}
	close(j.ended)
	h.joins.wg.Done()
}

// answer replies to a piece when it has been taken: the client sends the next
// only then.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, j *joint, p *piece, first bool) {
	select {
	case <-p.taken:
	case <-j.ended:
	}
	moves := true
	switch {
	case p.last:
		<-j.ended
	case first:
		moves = j.settle()
	}
	select {
	case <-j.ended:
		h.answerEnd(w, r, j)
		return
	default:
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !moves {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprintf(w, "weirline: taken, but nothing could be sent yet: %s\n", reasonOf(j.rt.Snapshot()))
		return
	}
	fmt.Fprintf(w, "weirline: %s so far; the connection stays for %v, for the next PUT\n", account(j.rt.Snapshot()), h.joinFor())
}

func (h *Handler) answerEnd(w http.ResponseWriter, r *http.Request, j *joint) {
	switch {
	case j.err != nil:
		h.refuse(w, h.log(), j.err)
	case j.rt != nil && j.rt.Stopped():
		fail(w, http.StatusServiceUnavailable, removed)
	case h.base != nil && h.base.Err() != nil:
		fail(w, http.StatusServiceUnavailable, stopping)
	default:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "weirline:", account(j.rt.Snapshot()))
	}
}

// settle waits until what the first piece brought is on its way, or nothing
// moves.
func (j *joint) settle() (moves bool) {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	var taken uint64
	for since := time.Now(); time.Since(since) < firstWait; {
		out := j.rt.Snapshot().Outputs[0]
		if out.State == route.Waiting || out.Opened > 0 && out.Queue.Queued == 0 {
			return true
		}
		if out.Queue.Read != taken {
			taken, since = out.Queue.Read, time.Now()
		}
		select {
		case <-look.C:
		case <-j.ended:
			return false
		}
	}
	return false
}

func reasonOf(s route.Snapshot) string {
	if text := s.Outputs[0].Error; text != "" {
		return text
	}
	return "no connection yet"
}

// yield ends the session that waits for the next PUT of this client to this
// address, and waits until it has: the client begins something else.
func (h *Handler) yield(ctx context.Context, key pieceKey) {
	h.joins.mu.Lock()
	j := h.joins.all[key]
	h.joins.mu.Unlock()
	if j == nil || !j.body.finishSoon() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, handover)
	defer cancel()
	select {
	case <-j.ended:
	case <-ctx.Done():
	}
}

// finishJoins ends all sessions between two PUTs and waits for all.
func (h *Handler) finishJoins() {
	h.joins.mu.Lock()
	h.joins.closed = true
	for _, j := range h.joins.all {
		j.body.finishSoon()
	}
	h.joins.mu.Unlock()
	h.joins.wg.Wait()
}
