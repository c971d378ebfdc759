// Package soak sends for a long time over a bad line and watches what must not
// grow: nothing is lost, nothing is altered, memory, descriptors and goroutines
// stay where they were.
//
// Lives here: long runs of srtcore through the impairment relay.
// May import: srtcore, tests/lab/impair. Never: anything internal, sidecar.
package soak
