// Package api drives the control surface of a running daemon as its clients do,
// while media passes: every operation of docs/openapi.yaml with every answer that
// the file lists for it, metrics while connections come and go, bad input, and
// weirline top in a terminal.
//
// Lives here: the tests; fake, a daemon whose numbers a test decides, for the
// unit tests of sidecar/control. May import: tests/served, tests/port, docs,
// srtcore. Never: sidecar; what is tested is another process.
package api
