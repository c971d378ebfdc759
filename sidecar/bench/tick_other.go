//go:build !linux

package bench

import "time"

// ticker wakes its goroutine at a fixed grid, as finely as sleep allows.
type ticker struct{}

func newTicker() (*ticker, error) { return &ticker{}, nil }

func (t *ticker) wait(until int64) {
	if d := until - now(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

func (t *ticker) stop() {}
