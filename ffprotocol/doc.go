// Package ffprotocol gives FFmpeg's libraries SRT, in Go programs that use them
// through a binding. It is the two callbacks of an AVIOContext, as any binding
// takes them: a Reader for demuxers, a Writer for muxers. Package
// ffprotocol/avio below it makes them an IOContext of go-astiav; this package
// needs no cgo and no binding.
//
// libavformat has no patience for callbacks that behave like sockets, so these
// keep to what it understands:
//
//   - They block until there is something, or until everything is taken. EAGAIN
//     would be final to FFmpeg, and the rest of a short write silently lost.
//   - A read never returns 0 without an error. The end of the stream is io.EOF,
//     or AVErrorEOF as a number.
//   - The end of the context that was given at the beginning ends a callback that
//     blocks. FFmpeg's own interrupt callback does not reach custom IO.
//   - What a number cannot say is kept: Err tells why a stream ended.
//   - A panic becomes an error here. Beyond is C, which cannot be unwound.
//
// Writer cuts what the muxer wrote into messages of whole MPEG-TS packets, 1316
// bytes unless the connection takes less.
//
// Two spellings of the callbacks serve all bindings: Read and Write for those
// that take Go functions, ReadPacket and WritePacket for those that want what C
// wants, a count or a negative AVERROR.
//
// Lives here: the life of a connection as FFmpeg sees it, and where messages are
// cut. May import: srtcore. Never: cgo, a binding of FFmpeg, the other adapters.
package ffprotocol
