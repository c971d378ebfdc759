// Package law turns the rules of the house into tests: who may import whom,
// which calls are forbidden where, how long a file and a function may be, which
// goroutines exist, and that the map of the house is true. Every complaint says
// why the rule is there.
//
// Lives here: tests that read the source tree as text and syntax, nothing else.
// May import: the standard library. Never: any package of this module.
package law
