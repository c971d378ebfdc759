package srtcore

import (
	"time"

	"github.com/weirline/weirline/srtcore/internal/engine"
)

// engineConfig turns a validated Config into the engine's: bytes of buffer into
// packets, defaults that depend on another option into numbers.
func (c *Config) engineConfig() engine.Config {
	return engine.Config{
		RcvLatency:  wholeMs(c.RcvLatency),
		PeerLatency: wholeMs(c.PeerLatency),
		StreamID:    c.StreamID,
		Passphrase:  c.Passphrase,
		PBKeyLen:    c.PBKeyLen,
		EnforcedEnc: c.EnforcedEncryption,
		KMRefresh:   c.effectiveRefreshRate(),
		KMPreAnn:    c.effectivePreAnnounce(),

		ConnTimeout: c.ConnTimeout,
		PeerIdle:    c.PeerIdleTimeout,
		Linger:      c.Linger,

		MSS:         c.MSS,
		FlowWindow:  c.FC,
		RcvBufPkts:  min(c.bufferPackets(c.RcvBuf), c.FC),
		SndBufPkts:  c.bufferPackets(c.SndBuf),
		PayloadSize: c.effectivePayloadSize(),

		MaxBW:      c.MaxBW,
		InputBW:    c.InputBW,
		MinInputBW: c.MinInputBW,
		OverheadBW: c.OverheadBW,

		LossMaxTTL:     c.LossMaxTTL,
		TSBPD:          c.TSBPDMode,
		TLPktDrop:      c.TLPktDrop,
		PlayGrid:       c.PlayGrid,
		NAKReport:      c.NAKReport,
		SndDropDelay:   c.SndDropDelay,
		DriftTracer:    c.DriftTracer,
		RetransmitAlgo: c.RetransmitAlgo,
		MinVersion:     c.MinVersion,
		Records:        c.TraceRecords,
	}
}

// wholeMs rounds up: the handshake carries milliseconds (draft section
// 3.2.1.1), and a wish for some latency must not become one for none.
func wholeMs(d time.Duration) time.Duration {
	return (d + time.Millisecond - 1).Truncate(time.Millisecond)
}

func (c *Config) bufferPackets(bytes int) int {
	return max(bytes/(c.MSS-udpOverhead), minBufferPackets)
}

func (c *Config) effectiveRefreshRate() int {
	if c.KMRefreshRate == 0 {
		return defaultKMRefreshRate
	}
	return c.KMRefreshRate
}

func (c *Config) effectivePreAnnounce() int {
	pre := c.KMPreAnnounce
	if pre == 0 {
		pre = defaultKMPreAnnounce
	}
	return min(pre, (c.effectiveRefreshRate()-1)/2)
}

func (c *Config) effectivePayloadSize() int {
	limit := c.MSS - udpOverhead - headerSize
	if c.PayloadSize == 0 {
		return limit
	}
	return min(c.PayloadSize, limit)
}
