//go:build !linux

package loop

func newPoller(portable bool) (poller, error) { return newPortablePoller(), nil }
