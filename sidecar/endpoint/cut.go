package endpoint

import "github.com/weirline/weirline/sidecar/mpegts"

// whole is an end whose bytes are kept: of them none is left out on purpose.
type whole interface{ Whole() }

// Cut says where an output goes on after media was lost on the way to it: at a
// message that a decoder can begin with, so that it is not fed the second half of a
// picture. nil: with any message. That is for
// files and pipes: a recording should hold as much as there was, and tools for
// files look for the beginning themselves.
func Cut(e SinkEnd) func(msg []byte) bool {
	if _, ok := e.(whole); ok {
		return nil
	}
	return mpegts.CutPoint
}

// Begin says where in a message one begins who joins a stream in the middle, as
// hub.Options.Begin; nil: with any message, as of Cut.
func Begin(e SinkEnd) func(msg []byte) int {
	if _, ok := e.(whole); ok {
		return nil
	}
	return mpegts.Begin
}

func (*fileEnd) Whole()  {}
func (*stdioEnd) Whole() {}
