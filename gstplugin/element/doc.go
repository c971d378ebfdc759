// Package element is what srtgosrc and srtgosink do, without GStreamer: a Source
// hands out packets, a Sink takes them, and a Host hears what the element has to
// say. The GObject classes are a shell around it.
//
// Nothing here waits for a peer but Read, Write and Drain, and these end at once
// on Unlock. Stop ends everything that Start began.
//
// Lives here: callers, listeners, reconnecting, waiting, statistics as the stock
// elements have them. May import: props, srtcore. Never: cgo, GObject, package
// gstplugin.
package element
