package endpoint

import (
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore"
)

// coarseTick is how often connections that only send are served. Their messages
// bring the time when they came, so that it costs no delay, only a part of the
// latency that is there for retransmissions.
const coarseTick = 4 * time.Millisecond

// coarseLatency is the least that leaves enough of it.
const coarseLatency = 20 * coarseTick

var coarseRuntime = sync.OnceValues(func() (*srtcore.Runtime, error) {
	return srtcore.NewRuntime(srtcore.RuntimeConfig{Tick: coarseTick})
})

// Coarse has the connections of a sending end served with fewer wake-ups, if
// their latency leaves room for it. It is called before the first.
func (e *SRT) Coarse() {
	c := &e.target.Config
	if max(c.RcvLatency, c.PeerLatency) < coarseLatency || c.Runtime != nil {
		return
	}
	if rt, err := coarseRuntime(); err == nil {
		c.Runtime = rt
	}
}
