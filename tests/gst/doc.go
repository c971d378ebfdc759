// Package gst proves the GStreamer elements srtgosrc and srtgosink against the
// stock elements srtsrc and srtsink: the same pipelines, the same tables of
// properties, signals and statistics, and measurements of both in the same run.
//
// Everything is driven from outside, as users do: gst-launch-1.0, a Python
// program that plays the application (py/), a C program that plays the load
// (drive/). The plugin is the built shared object, found by GST_PLUGIN_PATH.
// newer.sh loads it into a newer GStreamer. With -short what measures and what
// takes long is left out, and the rest takes a minute.
//
// Lives here: black-box tests of the GStreamer plugin and their two drivers.
// May import: tests/lab/impair, tests/port,
// tests/proctest. Never: srtcore, gstplugin, anything internal.
package gst
