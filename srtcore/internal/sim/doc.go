// Package sim is the network the engine's tests run in: a seeded simulator of
// links and hosts on virtual time, where the clock jumps to the next event.
//
// A World holds the clock, the links, the hosts and the script. A Host is one
// engine.Endpoint with its connections, driven by the engine's grammar. A Peer
// is the other kind of node: it says exactly the packets a test tells it to.
// Pair is the usual stage, one calling and one listening Host.
//
// Lives here: test support. May import: everything up to engine, and testing.
// Never: imported by code that is not a test.
package sim
