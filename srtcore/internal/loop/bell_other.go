//go:build !linux

package loop

func newBell() bell { return newChanBell() }
