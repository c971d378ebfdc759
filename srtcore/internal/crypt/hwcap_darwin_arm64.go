//go:build !purego

package crypt

// cpuHasAES: every arm64 machine of Apple has the AES instructions.
func cpuHasAES() bool { return true }
