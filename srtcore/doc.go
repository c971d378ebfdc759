// Package srtcore speaks SRT (Secure Reliable Transport) in live mode: messages
// of one UDP packet each, delivered in order and at a constant delay, repaired
// by retransmission, optionally encrypted. It is pure Go and interoperates with
// libsrt.
//
// # Calling and listening
//
// Dial calls a listener and Listen waits for callers. Both take a Config, which
// starts from DefaultConfig:
//
//	cfg := srtcore.DefaultConfig()
//	cfg.RcvLatency = 200 * time.Millisecond
//	cfg.StreamID = "#!::r=live/a,m=publish"
//	conn, err := srtcore.Dial(ctx, "example.net:9000", &cfg)
//
// The same in one line, with the option names of srt-live-transmit:
//
//	t, err := srtcore.ParseURL("srt://example.net:9000?latency=200ms&streamid=%23!::r=live/a,m=publish")
//	conn, err := t.Dial(ctx)
//
// A Conn is a net.Conn whose Read and Write carry whole messages. Programs that
// serve many connections use ReadBatch, WriteBatch and Poller instead. Options
// are listed in docs/options.md; whole programs are in the examples folder.
//
// # Encryption and access
//
// Both sides set the same Config.Passphrase. A listener decides about each
// caller in Config.OnRequest, where it sees the stream id (see ParseStreamID),
// may choose the passphrase, and may refuse with a RejectError.
//
// # Closing
//
// Close waits until everything written was acknowledged and had time to be
// played by the peer, bounded by Config.Linger beyond the latency; Abort does not
// wait. A reader gets io.EOF after the last message.
//
// # Errors
//
// A bad packet from the network is a counter in Stats, never an error. A refused
// handshake is a *RejectError, a bad option an *OptionError, a passed deadline
// ErrTimeout, a silent peer ErrPeerIdle.
//
// Lives here: the public API only; blocking, deadlines and the end of a context
// stop here. May import: everything under srtcore. Never: cgo, the adapters.
package srtcore
