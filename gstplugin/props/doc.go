// Package props is the one table of what the elements srtgosrc and srtgosink can
// be told: GObject properties and URI options, with types, ranges, defaults and a
// line of documentation each. The C classes, the URI parser and the
// documentation are all made of it.
//
// Settings holds the values of one element. A property that was set wins over the
// URI, whatever came first; a new URI replaces what the previous URI said and
// nothing else.
//
// Lives here: the table, the values, URI reading and writing, and the
// srtcore.Config made of them. May import: srtcore. Never: cgo, package element,
// anything that knows GObject.
package props
