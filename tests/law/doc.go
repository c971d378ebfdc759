// Package law turns the rules of the house into tests: who may import whom,
// which calls are forbidden where, how long a file and a function may be, and
// which goroutines exist. Every complaint says why the rule is there.
//
// Lives here: tests that read the source tree as text and syntax, nothing else.
// May import: the standard library. Never: any package of this module.
package law
