package endpoint

import "github.com/weirline/weirline/sidecar/mpegts"

// whole is an end whose bytes are kept: of them none is left out on purpose.
type whole interface{ Whole() }

// Cut says where an output goes on after media was lost on the way to it, and
// where one who joins begins: at a message that a decoder can begin with, so that
// it is not fed the second half of a picture. nil: with any message. That is for
// files and pipes: a recording should hold as much as there was, and tools for
// files look for the beginning themselves.
func Cut(e SinkEnd) func(msg []byte) bool {
	if _, ok := e.(whole); ok {
		return nil
	}
	return mpegts.CutPoint
}

func (*fileEnd) Whole()  {}
func (*stdioEnd) Whole() {}
