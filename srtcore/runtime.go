package srtcore

import (
	"fmt"
	"sync"
	"time"

	"github.com/weirline/weirline/srtcore/internal/loop"
)

// RuntimeConfig says how a Runtime works. The zero value is right for nearly
// everybody.
type RuntimeConfig struct {
	// Shards is the number of loops, each with a goroutine and sockets of its
	// own. 0: one below four CPUs, else one and another for every four, at most
	// four. One loop carries several hundred megabits per second.
	Shards int
	// Tick is about how often a loop wakes while data is delivered; it then sends,
	// receives and delivers all that is due. A loop that only sends collects what
	// was written every one to three ticks, up to a tenth of the latency. A longer
	// tick costs less CPU time, adds as much delay, and makes longer bursts. 0: one
	// millisecond. At most 10 ms.
	Tick time.Duration
	// NoGSO sends every packet as a datagram of its own instead of handing the
	// kernel trains of them. Some kernels and drivers damage trains without
	// reporting an error: the peer then sees loss that grows with the rate.
	NoGSO bool
	// NoGRO receives every packet as a datagram of its own.
	NoGRO bool
	// Portable uses the standard library's sockets and timers instead of epoll,
	// recvmmsg and sendmmsg. It is how systems other than Linux work.
	Portable bool
}

// Runtime is the goroutines, sockets and free memory that connections share.
// Config.Runtime chooses one; by default there is one for the whole process,
// started with the first connection.
type Runtime struct {
	group *loop.Group
}

// maxTick leaves several ticks to an acknowledgement, which is sent every 10 ms.
const maxTick = 10 * time.Millisecond

// NewRuntime starts a Runtime.
func NewRuntime(cfg RuntimeConfig) (*Runtime, error) {
	if cfg.Tick < 0 || cfg.Tick > maxTick || cfg.Shards < 0 {
		return nil, fmt.Errorf("srt: start runtime: a tick of %v or %d shards: allowed 0..%v and 0 or more", cfg.Tick, cfg.Shards, maxTick)
	}
	g, err := loop.NewGroup(loop.Config{
		Shards: cfg.Shards, Tick: cfg.Tick, NoGSO: cfg.NoGSO, NoGRO: cfg.NoGRO, Portable: cfg.Portable,
	})
	if err != nil {
		return nil, fmt.Errorf("srt: start runtime: %w", err)
	}
	return &Runtime{group: g}, nil
}

// Close ends every connection and listener of the Runtime at once, without
// draining, and waits for its goroutines to end.
func (r *Runtime) Close() error {
	r.group.Close()
	return nil
}

// defaultRuntime is shared by all who choose none; it lives as long as the
// process.
var defaultRuntime = sync.OnceValues(func() (*Runtime, error) {
	return NewRuntime(RuntimeConfig{})
})

// runtime returns the Runtime that serves c.
func (c *Config) runtime() (*Runtime, error) {
	if c.Runtime != nil {
		return c.Runtime, nil
	}
	return defaultRuntime()
}
