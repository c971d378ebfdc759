package sim

import (
	"net/netip"

	"github.com/weirline/weirline/srtcore/internal/dgram"
	"github.com/weirline/weirline/srtcore/internal/engine"
	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Host is one engine.Endpoint at an address, driven as the loop drives it.
type Host struct {
	World *World
	Addr  netip.AddrPort
	EP    *engine.Endpoint
	// SkewPPM is how much faster the Host's clock runs than virtual time.
	SkewPPM int64
	// ListenConfig is what requests are accepted with.
	ListenConfig engine.Config
	// OnRequest, if set, decides on a request: it may change the config, and a
	// reason other than 0 rejects. Returning false leaves the request alone.
	OnRequest func(r *engine.Request, cfg *engine.Config) (wire.RejectReason, bool)

	Sessions []*Session
	Accepted []*Session
	Requests int
	// AcceptErrs are the errors of Accept.
	AcceptErrs []error

	cache *dgram.Cache
	batch dgram.Batch
	msgs  []engine.Message
	dead  bool

	conclusions map[caller]conclusion
}

type caller struct {
	addr netip.AddrPort
	id   wire.SocketID
}

type conclusion struct {
	arrival
	initSeq seq.Number
}

// arrival is when a datagram came and the time stamp on it.
type arrival struct {
	at    mono.Time
	stamp wire.Timestamp
}

// NewHost adds a Host at addr.
func (w *World) NewHost(addr string) *Host {
	h := &Host{
		World: w, Addr: netip.MustParseAddrPort(addr),
		cache: dgram.NewCache(w.pool.pool), msgs: make([]engine.Message, 0, 256),
		conclusions: make(map[caller]conclusion),
	}
	h.EP = engine.NewEndpoint(engine.EndpointConfig{Rand: w.entropy(), Cache: h.cache})
	w.add(h, h.Addr)
	return h
}

// Listen makes the Host accept callers.
func (h *Host) Listen(cfg engine.Config) {
	h.ListenConfig = cfg
	h.EP.Listen(&h.ListenConfig, 128)
}

// Dial starts a connection to another address.
func (h *Host) Dial(cfg engine.Config, to netip.AddrPort) *Session {
	s := h.newSession(&cfg)
	s.add(h.EP.Dial(h.now(), &s.Config, to))
	h.Sessions = append(h.Sessions, s)
	return s
}

// now is the Host's own clock.
func (h *Host) now() mono.Time {
	d := h.World.Now - start
	return h.World.Now + d*mono.Time(h.SkewPPM)/1_000_000
}

// worldTime is when the Host's clock will show t.
func (h *Host) worldTime(t mono.Time) mono.Time {
	if t == mono.Never || h.SkewPPM == 0 {
		return t
	}
	d := int64(t - start)
	return start + mono.Time(d-d*h.SkewPPM/(1_000_000+h.SkewPPM)) + 1
}

// Kill makes the Host vanish without a word.
func (h *Host) Kill() { h.dead = true }

func (h *Host) newSession(cfg *engine.Config) *Session {
	return &Session{Host: h, Config: *cfg, OpenedAt: h.World.Now, arrived: make(map[seq.Number]arrival)}
}

func (h *Host) deliver(now mono.Time, from, to netip.AddrPort, data []byte) {
	if h.dead {
		return
	}
	h.noteArrival(now, from, data)
	if len(data) > dgram.Size {
		return // a socket would cut it, and nothing longer is SRT
	}
	b := h.cache.Get()
	b.Reset(copy(b.Mem(), data))
	h.EP.HandleDatagram(h.now(), dgram.In{Buf: b, From: from, To: to.Addr()})
}

// noteArrival keeps what the checks of the delivery time need: when the
// handshakes and each sequence number were here first, and their time stamps.
func (h *Host) noteArrival(now mono.Time, from netip.AddrPort, data []byte) {
	if len(data) < wire.HeaderSize {
		return
	}
	here := arrival{at: now, stamp: wire.Stamp(data)}
	if wire.Dest(data) == 0 {
		if hs, ok := (&Packet{Data: data}).Handshake(); ok && hs.Type == wire.HSConclusion {
			h.conclusions[caller{from, hs.SocketID}] = conclusion{here, hs.InitSeq}
		}
		return
	}
	for _, s := range h.Sessions {
		if s.Conn != nil && s.Conn.SocketID() == wire.Dest(data) {
			s.noteArrival(here, data)
		}
	}
}

func (h *Host) timeout(mono.Time) {
	if h.dead {
		return
	}
	now := h.now()
	if h.EP.PollTimeout() <= now {
		h.EP.HandleTimeout(now)
	}
	for _, s := range h.Sessions {
		if !s.ended && s.Conn.PollTimeout() <= now {
			s.Conn.HandleTimeout(now)
		}
	}
}

func (h *Host) next() mono.Time {
	if h.dead {
		return mono.Never
	}
	at := h.EP.PollTimeout()
	for _, s := range h.Sessions {
		if !s.ended {
			at = mono.Min(at, s.Conn.PollTimeout())
		}
	}
	return h.worldTime(at)
}

// drain takes all output in the order of the grammar.
func (h *Host) drain(mono.Time) {
	if h.dead {
		return
	}
	now := h.now()
	for {
		ev, ok := h.EP.PollEvent()
		if !ok {
			break
		}
		h.handleRequest(now, ev)
	}
	h.EP.PollTransmit(now, &h.batch)
	h.World.send(&h.batch, h.Addr)
	for i := 0; i < len(h.Sessions); i++ {
		if s := h.Sessions[i]; !s.ended {
			s.drain(now)
		}
	}
}

func (h *Host) handleRequest(now mono.Time, ev engine.Event) {
	if ev.Kind != engine.EventRequest {
		h.World.TB.Errorf("endpoint event of kind %d", ev.Kind)
		return
	}
	h.Requests++
	cfg := h.ListenConfig
	if h.OnRequest != nil {
		reason, decide := h.OnRequest(ev.Request, &cfg)
		if !decide {
			return
		}
		if reason != 0 {
			h.EP.Reject(now, ev.Request, reason)
			return
		}
	}
	h.Accept(ev.Request, cfg)
}

// Accept accepts a request.
func (h *Host) Accept(r *engine.Request, cfg engine.Config) *Session {
	s := h.newSession(&cfg)
	c, err := h.EP.Accept(h.now(), r, &s.Config)
	if err != nil {
		h.AcceptErrs = append(h.AcceptErrs, err)
		return nil
	}
	s.Request, s.Connected = r, true
	s.ConnectedAt = h.World.Now
	c0 := h.conclusions[caller{r.Peer, r.SocketID}]
	s.base, s.initSeq = c0.arrival, c0.initSeq
	h.Sessions = append(h.Sessions, s)
	h.Accepted = append(h.Accepted, s)
	s.add(c)
	return s
}
