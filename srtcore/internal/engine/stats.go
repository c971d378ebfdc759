package engine

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/mono"
	"github.com/weirline/weirline/srtcore/seq"
	"github.com/weirline/weirline/srtcore/wire"
)

// Count is a number of packets and their bytes. Bytes include 44 of headers a
// packet, as libsrt counts them.
type Count struct {
	Packets uint64
	Bytes   uint64
}

// add counts one packet of payload bytes.
func (n *Count) add(payload int) { n.addN(1, payload) }

// addN counts k packets with payload bytes together.
func (n *Count) addN(k, payload int) {
	n.Packets += uint64(k)
	n.Bytes += uint64(payload + k*wireOverhead)
}

// counters is what a connection counts.
type counters struct {
	recv, recvUnique Count
	sent, sentUnique Count

	retrans               Count
	sndLoss, sndDrop      Count
	rcvLoss, rcvDrop      Count
	undecrypt, rcvBelated Count
	rcvRetrans            uint64

	start mono.Time

	sentACK, recvACK, sentNAK, recvNAK uint64
	badPackets, badACK, badNAK, noRoom uint64

	sndBusy         time.Duration
	belatedTime     time.Duration
	reorderDistance int
	peerCapacity    uint32 // packets/s, from the peer's ACK
	peerRate        uint32 // bytes/s, the most that the peer said it receives; smoothed
	peerRateNow     uint32 // the same now
}

// avgPayload is the mean size of a received payload: the best guess for one
// that never came.
func (s *counters) avgPayload() int {
	if s.recvUnique.Packets == 0 {
		return 0
	}
	return int(s.recvUnique.Bytes/s.recvUnique.Packets) - wireOverhead
}

// countSndLoss counts reported losses, each packet once: one that was already
// sent again has been counted.
func (c *Conn) countSndLoss(first, last seq.Number) {
	end := last.Sub(c.snd.buf.first)
	for off := first.Sub(c.snd.buf.first); off <= end; off++ {
		if b := c.snd.buf.at(off).buf; !wire.IsRexmit(b.Header()) {
			c.stats.sndLoss.add(b.Len() - wire.HeaderSize)
		}
	}
}

// Stats is a consistent snapshot of a connection: counters since its start, and
// the values of this moment.
type Stats struct {
	Age time.Duration

	Sent, SentUnique, Retrans          Count
	Recv, RecvUnique                   Count // unique: and decrypted
	SndLoss, SndDrop, RcvLoss, RcvDrop Count
	Undecrypt, Belated                 Count
	RcvRetrans                         uint64
	SentACK, RecvACK, SentNAK, RecvNAK uint64
	BadPackets, BadACK, BadNAK, NoRoom uint64
	SndDuration                        time.Duration // time with data to send
	BelatedTime                        time.Duration // smoothed lateness
	ReorderDistance, ReorderTolerance  int           // packets

	SndPeriod                    time.Duration // between packets
	FlowWindow, FlightSize       int           // packets
	RTT, RTTVar                  time.Duration
	PeerRate                     uint32 // bytes/s, the most that the peer's ACKs said it receives; 0: nothing said
	CapacityPkts                 int    // link capacity, packets/s
	MaxBW                        int64  // bytes/s in force
	MSS                          int
	SndBufPkts, SndBufBytes      int // bytes with headers, as libsrt counts them
	SndBufSpan                   time.Duration
	SndBufFreePkts               int
	RcvBufPkts, RcvBufBytes      int // bytes of payload alone, as libsrt counts them
	RcvBufSpan                   time.Duration
	RcvBufFreePkts               int
	RcvTSBPDDelay, SndTSBPDDelay time.Duration
	SndKMState, RcvKMState       wire.KMState
	KeyLen                       int
	PeerVersion                  uint32
	Drift                        time.Duration
}

// Stats returns a snapshot at now.
func (c *Conn) Stats(now mono.Time) Stats {
	s := c.statsCounters(now)
	s.SndPeriod, s.MaxBW, s.MSS = c.snd.pacer.period, c.snd.pacer.bandwidth(), c.mss
	s.FlowWindow, s.FlightSize = c.snd.window, c.snd.buf.sent
	s.RTT, s.RTTVar = c.rtt.smoothed, c.rtt.variance
	s.PeerRate = c.stats.peerRate
	s.CapacityPkts = max(c.rcv.rate.capacity(), int(c.stats.peerCapacity))
	s.SndBufPkts, s.SndBufBytes = c.snd.buf.n, c.snd.buf.bytes+c.snd.buf.n*wireOverhead
	s.SndBufFreePkts = max(c.snd.buf.limit-c.snd.buf.n, 0)
	s.RcvBufPkts, s.RcvBufBytes = c.rcv.buf.count, c.rcv.buf.bytes
	s.RcvBufFreePkts = c.availBuf()
	s.SndBufSpan, s.RcvBufSpan = c.sndSpan(now), c.rcvSpan()
	s.RcvTSBPDDelay, s.SndTSBPDDelay = c.rcvDelay, c.peerDelay
	s.SndKMState, s.RcvKMState, s.KeyLen = c.km.sndState, c.km.rcvState, c.km.keyLen
	s.PeerVersion, s.Drift = c.peerVersion, c.rcv.tsbpd.off
	return s
}

func (c *Conn) statsCounters(now mono.Time) Stats {
	n := &c.stats
	s := Stats{
		Age: now.Sub(n.start), Sent: n.sent, SentUnique: n.sentUnique, Retrans: n.retrans,
		Recv: n.recv, RecvUnique: n.recvUnique, SndLoss: n.sndLoss, SndDrop: n.sndDrop,
		RcvLoss: n.rcvLoss, RcvDrop: n.rcvDrop, Undecrypt: n.undecrypt, Belated: n.rcvBelated,
		RcvRetrans: n.rcvRetrans, SentACK: n.sentACK, RecvACK: n.recvACK,
		SentNAK: n.sentNAK, RecvNAK: n.recvNAK, BadPackets: n.badPackets, BadACK: n.badACK,
		BadNAK: n.badNAK, NoRoom: n.noRoom, SndDuration: n.sndBusy, BelatedTime: n.belatedTime,
		ReorderDistance: n.reorderDistance, ReorderTolerance: c.rcv.order.tolerance,
	}
	if c.snd.busySince != 0 {
		s.SndDuration += now.Sub(c.snd.busySince)
	}
	return s
}

// sndSpan is the time from the oldest to the newest message held.
func (c *Conn) sndSpan(now mono.Time) time.Duration {
	b := &c.snd.buf
	if b.n == 0 {
		return 0
	}
	oldest := c.stampTime(now, wire.Stamp(b.at(0).buf.Header()))
	newest := c.stampTime(now, wire.Stamp(b.at(b.n-1).buf.Header()))
	return max(newest.Sub(oldest), 0) + time.Millisecond
}

// rcvSpan is the same for what is received and not yet delivered.
func (c *Conn) rcvSpan() time.Duration {
	b := &c.rcv.buf
	if b.count == 0 || !c.tsbpdOn() {
		return 0
	}
	oldest, newest := mono.Never, mono.Time(0)
	for off := 0; off < b.span && oldest == mono.Never; off++ {
		if p := b.at(off); p != nil && p != tombstone {
			oldest = c.rcv.tsbpd.localTime(c.rcv.near, wire.Stamp(p.Header()))
		}
	}
	for off := b.span - 1; off >= 0 && newest == 0; off-- {
		if p := b.at(off); p != nil && p != tombstone {
			newest = c.rcv.tsbpd.localTime(c.rcv.near, wire.Stamp(p.Header()))
		}
	}
	return max(newest.Sub(oldest), 0) + time.Millisecond
}

// SndKMState returns the state of the sending direction's keys.
func (c *Conn) SndKMState() wire.KMState { return c.km.sndState }

// RcvKMState returns the state of the receiving direction's keys.
func (c *Conn) RcvKMState() wire.KMState { return c.km.rcvState }

// learnPeerRate smooths what full ACKs say about the rate at which packets come,
// and keeps the most: a stream that ends must not count as a slow one.
func (s *counters) learnPeerRate(bytes uint32) {
	if bytes == 0 {
		return // the peer has not seen enough
	}
	s.peerRateNow = uint32((7*uint64(s.peerRateNow) + uint64(bytes)) / 8)
	s.peerRate = max(s.peerRate, s.peerRateNow)
}
