// Package avio makes an SRT connection an IOContext of go-astiav, to be set as a
// format context's Pb: an Input to demux from, an Output to mux to.
//
//	out, err := avio.OpenOutput(ctx, "srt://203.0.113.7:9000?latency=200")
//	...
//	format.SetPb(out.IOContext())
//
// The module asks for go-astiav v0.16.0, which fits FFmpeg 5.1. That is a
// minimum: what is used here has not changed in later versions, so a program
// that requires the go-astiav of its own FFmpeg builds this package with it:
// v0.39.0 for FFmpeg 7, v0.42.0 for FFmpeg 8. A version that does not fit fails to
// compile. Programs that use another binding want package ffprotocol alone.
//
// Lives here: the joint between ffprotocol's callbacks and go-astiav's
// IOContext. May import: ffprotocol, srtcore, go-astiav. Never: its own cgo, the
// other adapters.
package avio
