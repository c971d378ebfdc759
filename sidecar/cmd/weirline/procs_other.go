//go:build !linux

package main

// ticked is never called: ingest reads on a tick on Linux only.
func (p *procs) ticked(bool) {}
