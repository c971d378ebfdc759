package ffmpeg

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirline/weirline/tests/port"
	"github.com/weirline/weirline/tests/proctest"
)

// The lines that send to a listener, with a listener that ends in the middle and
// another one in its place: the program goes on to its end, and what comes before
// and after is the source's.
func TestExecLinesSurviveARestart(t *testing.T) {
	n := 0
	for _, l := range lines {
		if !l.survives() || testing.Short() && !contains(inShort, l.name) {
			continue
		}
		n++
		t.Run(strings.ReplaceAll(l.name, " ", "-"), func(t *testing.T) { t.Parallel(); l.restart(t) })
	}
	if want := 20; n < want && !testing.Short() {
		t.Errorf("only %d lines, want %d", n, want)
	}
}

// survives: it sends to a listener from a file of which there is a longer one.
func (l line) survives() bool {
	for i, p := range l.peers {
		if !strings.HasPrefix(p, "recv ") || i == 0 && !strings.Contains(p, "mode=listener") {
			return false
		}
	}
	return len(l.peers) > 0 && l.code == 0 && strings.Contains(l.args, "{in}")
}

func (l line) restart(t *testing.T) {
	fill := strings.NewReplacer("{in}", bench.long, "{dir}", t.TempDir(), "{p}", strconv.Itoa(port.Free(t)), "{q}", strconv.Itoa(port.Free(t))).Replace
	far := strings.TrimPrefix(fill(l.peers[0]), "recv ")
	first := newViewer(t, far)
	proctest.WaitBound(t, "udp", fill("{p}"))
	var others []*peer
	for _, o := range l.peers[1:] {
		others = append(others, receive(t, strings.TrimPrefix(fill(o), "recv ")))
	}
	p := wrapped(t, l.flags, fill(l.args))
	proctest.Eventually(t, "hardly any media comes", func() bool { return first.size() > 50000 || !p.Running() })
	first.leave()
	p.WantRunning(300 * time.Millisecond)
	second := newViewer(t, far)
	p.WantCode(0)
	proctest.Eventually(t, "the second viewer's connection does not end", func() bool { return settled(second) })
	second.leave()
	if l.name == "no transport stream" {
		return // nothing to begin with in the middle
	}
	before, after := framesOf(t, first.file), framesOf(t, second.file)
	if l.other {
		if len(before) == 0 || len(after) == 0 {
			t.Errorf("frames of %d streams before, of %d after", len(before), len(after))
		}
		return
	}
	want := framesOfClip(t, bench.long)
	for _, o := range others {
		framesOf(t, o.file()).wantAll(t, "at the other peer", want)
	}
	before.wantPart(t, "before", want, 0.02, 1)
	after.wantPart(t, "after", want, 0.2, 1)
	after.wantEnd(t, "after", want)
}
