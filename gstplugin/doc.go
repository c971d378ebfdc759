// Package gstplugin is SRT for GStreamer: the elements srtgosrc and srtgosink,
// made to take the place of srtsrc and srtsink in a pipeline.
//
// A Go program calls Register after gst_init, or instead of it, and uses the
// elements like any other; they run in the program's own Go runtime. Programs in
// other languages load libgstsrtgo.so, which is the folder plugin around the
// same Register.
//
// The two GObject classes are written in C, as thin as GObject allows: class.c
// registers them with properties and signals, src.c and sink.c are their virtual
// functions, bus.c tells GStreamer and its users what happened. Every behaviour
// is a call into Go, to the exports of this package, and from there to package
// element. Packets alone go another way: receive.go and send.go hold the rings
// between the streaming threads and Go.
//
// A panic in Go would end the host's process, so every export recovers it,
// posts an element error and returns what GStreamer knows as failure.
//
// Lives here: what touches GObject, and nothing that knows SRT. May import:
// element, props, srtcore. Never: the sidecar; outside of this package, its
// main around the shared object and examples/gst-*, nothing uses cgo.
package gstplugin
