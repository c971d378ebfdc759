// Package interop runs weirline against the programs people already have:
// srt-live-transmit, ffmpeg with its own srt protocol, GStreamer's srtsrc and
// srtsink. What is sent must be what is received, byte for byte.
//
// Every connection goes through the impairment relay, also when nothing is
// impaired: it shows when the handshake is over, so that nothing has to guess.
//
// Lives here: the matrix and the ends of a connection as processes.
// May import: srtcore, tests/lab/impair. Never: anything internal, sidecar: the
// binary under test is a process.
package interop
