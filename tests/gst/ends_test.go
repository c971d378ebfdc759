package gst

import (
	"strings"
	"testing"
)

// family is one implementation of the two elements.
type family struct{ name, src, sink, scheme string }

var (
	stock = family{name: "stock", src: "srtsrc", sink: "srtsink", scheme: "srt"}
	ours  = family{name: "ours", src: "srtgosrc", sink: "srtgosink", scheme: "srtgo"}
)

// fill puts the names of the elements and other words into a pipeline.
func (f family) fill(line string, words ...string) string {
	return strings.NewReplacer(append([]string{"{src}", f.src, "{sink}", f.sink, "{scheme}", f.scheme}, words...)...).Replace(line)
}

// pairing is who sends and who receives.
type pairing struct{ send, recv family }

func (p pairing) name() string { return p.send.name + "-to-" + p.recv.name }

// pairings are all four, families both.
func pairings() []pairing {
	return []pairing{{stock, stock}, {stock, ours}, {ours, stock}, {ours, ours}}
}

func families() []family {
	return []family{stock, ours}
}

// eachFamily runs a test with the stock elements, which proves the test, and
// with ours.
func eachFamily(t *testing.T, f func(*testing.T, family)) {
	for _, fam := range families() {
		t.Run(fam.name, func(t *testing.T) { f(t, fam) })
	}
}
