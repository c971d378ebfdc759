//go:build !linux

package daemon

// threads is not known here.
func threads() int { return 0 }
