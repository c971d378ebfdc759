package law

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// room is the import law of one folder of the house.
type room struct {
	dir string
	// may lists the packages of this module that non-test code may import.
	may []string
	// std, when not nil, is the complete list of packages of the standard
	// library.
	std []string
	// never lists packages outside this module; "x/..." means x and all below.
	never []string
	// ext lists modules outside the standard library; none otherwise.
	ext []string
	// cgo allows import "C".
	cgo    bool
	reason string
}

const (
	xsys   = "golang.org/x/sys/..."
	astiav = "github.com/asticode/go-astiav"
	gogst  = "github.com/go-gst/go-gst/..."
)

// The order of the core: seq <- wire <- crypt <- engine <- loop <- srtcore and
// mono <- dgram <- {udp, engine}.
var rooms = []room{
	{
		dir: "srtcore/seq", may: nil, std: []string{},
		reason: "sequence arithmetic stands on nothing, so that everything can stand on it",
	},
	{
		dir: "srtcore/wire", may: []string{"srtcore/seq"},
		never:  []string{"time", "net", "net/http", "os", "sync", "context", "math/rand/..."},
		reason: "wire is bytes to fields and back: it has no clock, no socket and no state",
	},
	{
		dir: "srtcore/internal/mono", may: nil, std: []string{"time"},
		reason: "mono is a number of nanoseconds; reading a clock is the loop's",
	},
	{
		dir: "srtcore/internal/dgram", may: []string{"srtcore/internal/mono"},
		never:  []string{"time", "net", "os", "context"},
		reason: "dgram is the memory of datagrams and knows nothing about their meaning",
	},
	{
		dir: "srtcore/internal/crypt", may: []string{"srtcore/seq", "srtcore/wire"},
		never:  []string{"time", "net", "os", "sync", "context", "crypto/rand", "math/rand/..."},
		reason: "entropy is an io.Reader argument, so that a seeded run is the same run twice",
	},
	{
		dir: "srtcore/internal/engine",
		may: []string{"srtcore/seq", "srtcore/wire", "srtcore/internal/crypt", "srtcore/internal/mono", "srtcore/internal/dgram"},
		never: []string{"net", "os/...", "sync/...", "syscall", "context", "log/...", "runtime/...",
			"math/rand/...", "crypto/rand"},
		reason: "the engine has no clock, no socket, no goroutine, no lock and no dice: they are handed in",
	},
	{
		dir: "srtcore/internal/udp", may: []string{"srtcore/internal/dgram", "srtcore/internal/mono"},
		ext:    []string{xsys},
		reason: "udp cannot spell SRT: it and the engine meet only in loop",
	},
	{
		dir: "srtcore/internal/loop",
		may: []string{"srtcore/seq", "srtcore/wire", "srtcore/internal/mono", "srtcore/internal/dgram",
			"srtcore/internal/engine", "srtcore/internal/udp"},
		ext:    []string{xsys},
		never:  []string{"log/...", "math/rand/..."},
		reason: "loop joins engine and udp and knows neither the public API nor an adapter",
	},
	{
		dir: "srtcore/internal/sim",
		may: []string{"srtcore/seq", "srtcore/wire", "srtcore/internal/crypt", "srtcore/internal/mono",
			"srtcore/internal/dgram", "srtcore/internal/engine"},
		never:  []string{"net", "os", "context", "crypto/rand"},
		reason: "the simulator runs the engine on virtual time; anything real would make a seed lie",
	},
	{
		dir: "srtcore",
		may: []string{"srtcore/seq", "srtcore/wire", "srtcore/internal/mono", "srtcore/internal/dgram",
			"srtcore/internal/engine", "srtcore/internal/loop"},
		never:  []string{"log/...", "math/rand/...", "net/http", "os/exec"},
		reason: "the public API speaks to the loop; sockets are the loop's",
	},
}

// outer are the rooms of the two adapters to C libraries. In the GStreamer plugin
// element and props are pure Go, so that what the elements do is tested where
// there is no GStreamer; of ffprotocol the callbacks are, so that they serve any
// binding of any FFmpeg.
var outer = []room{
	{
		dir: "gstplugin/props", may: []string{"srtcore"},
		never:  []string{"os/...", "log/...", "net/http"},
		reason: "props is the table and what is made of it; the C classes and the documentation read it",
	},
	{
		dir: "gstplugin/element", may: []string{"srtcore", "gstplugin/props"},
		never:  []string{"os/...", "log/...", "net/http"},
		reason: "element is what the elements do, on srtcore, and knows no GObject",
	},
	{
		dir: "gstplugin", may: []string{"srtcore", "gstplugin/props", "gstplugin/element"}, cgo: true,
		reason: "the shim hands calls over and decides nothing",
	},
	{
		dir: "gstplugin/plugin", may: []string{"gstplugin"}, cgo: true,
		reason: "the plugin is the main package around Register and nothing else",
	},
	{
		dir: "ffprotocol", may: []string{"srtcore"},
		never:  []string{"os/...", "log/...", "net/http"},
		reason: "the callbacks are pure Go: a program with another binding or another FFmpeg takes them without go-astiav",
	},
	{
		dir: "ffprotocol/avio", may: []string{"srtcore", "ffprotocol"}, ext: []string{astiav},
		never:  []string{"os/...", "log/...", "net/http"},
		reason: "avio is the joint between the callbacks and go-astiav, whose cgo is enough",
	},
}

// cgoRooms are the only folders that may use cgo; below examples, those that
// begin with gst-.
var cgoRooms = []string{"gstplugin", "gstplugin/plugin"}

// cgoBindings are modules that bring cgo with them, and the folders, with all
// below, that may have them; below examples, those with the prefix.
var cgoBindings = []struct {
	module, prefix string
	dirs           []string
}{
	{gogst, "examples/gst-", []string{"gstplugin", "tests/gst"}},
	{astiav, "examples/ff-", []string{"ffprotocol/avio", "tests/ffproto"}},
}

var adapters = []string{"gstplugin", "ffprotocol", "sidecar"}

// backward lists, for each room of the sidecar, the rooms that come after it in
// the order a payload walks them: endpoint -> hub -> route -> {ingest, control}.
var backward = map[string][]string{
	"sidecar/mpegts":   {"sidecar/endpoint", "sidecar/hub", "sidecar/route", "sidecar/ingest", "sidecar/control", "sidecar/config", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/endpoint": {"sidecar/hub", "sidecar/route", "sidecar/ingest", "sidecar/control", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/hub":      {"sidecar/route", "sidecar/ingest", "sidecar/control", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/route":    {"sidecar/access", "sidecar/config", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/access":   {"sidecar/route", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/config":   {"sidecar/hub", "sidecar/route", "sidecar/access", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/ingest":   {"sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/control":  {"sidecar/ingest", "sidecar/access", "sidecar/endpoint", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	"sidecar/daemon":   {"sidecar/execwrap", "sidecar/cmd"},
	"sidecar/bench":    {"sidecar/execwrap", "sidecar/cmd"},
	"sidecar/service":  {"sidecar/endpoint", "sidecar/hub", "sidecar/route", "sidecar/access", "sidecar/config", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	// trace and probe look at connections of their own or others' and carry none.
	"sidecar/trace": {"sidecar/mpegts", "sidecar/endpoint", "sidecar/hub", "sidecar/route", "sidecar/access", "sidecar/config", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/probe", "sidecar/cmd"},
	"sidecar/probe": {"sidecar/mpegts", "sidecar/endpoint", "sidecar/hub", "sidecar/route", "sidecar/access", "sidecar/config", "sidecar/ingest", "sidecar/control", "sidecar/daemon", "sidecar/execwrap", "sidecar/cmd"},
	// execwrap serves a program by ingest; what it shows is shown by the command.
	"sidecar/execwrap": {"sidecar/hub", "sidecar/access", "sidecar/config", "sidecar/control", "sidecar/daemon", "sidecar/bench", "sidecar/cmd"},
}

// mute are the rooms of the control surface that look at one of its faces from
// outside, and what they are not to know.
var mute = map[string][]string{
	"sidecar/control/page":   {"sidecar", "srtcore"},
	"sidecar/control/client": {"sidecar/hub", "sidecar/endpoint", "sidecar/ingest", "sidecar/access"},
	"sidecar/control/top":    {"sidecar/hub", "sidecar/endpoint", "sidecar/ingest", "sidecar/access"},
	"docs":                   {"sidecar", "srtcore", "gstplugin", "ffprotocol"},
}

func matches(path, pattern string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return under(path, base)
	}
	return path == pattern
}

func matchesAny(path string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(path, p) })
}

// isStd reports whether the path is of the standard library: its first element
// has no dot.
func isStd(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func roomOf(dir string) (room, bool) {
	for _, r := range append(rooms[:len(rooms):len(rooms)], outer...) {
		if r.dir == dir {
			return r, true
		}
	}
	return room{}, false
}

// checkRooms holds every non-test file under srtcore, gstplugin and ffprotocol
// against its room.
func checkRooms(tr *tree) (out []string) {
	for _, s := range tr.files {
		if s.test || !underAny(s.dir, "srtcore", "gstplugin", "ffprotocol") {
			continue
		}
		r, ok := roomOf(s.dir)
		if !ok {
			out = append(out, fmt.Sprintf("%s: folder %s has no entry in the import law; add one with a reason", s.path, s.dir))
			continue
		}
		for _, i := range s.imports() {
			if why := r.refuses(i); why != "" {
				out = append(out, fmt.Sprintf("%s: %s must not import %q (%s): %s", tr.at(i.pos), s.dir, i.path, why, r.reason))
			}
		}
	}
	return out
}

func (r room) refuses(i imp) string {
	switch {
	case i.local:
		if !slices.Contains(r.may, i.path) {
			return "not among the packages it may import"
		}
	case i.path == "C":
		if !r.cgo {
			return "no cgo here"
		}
	case !isStd(i.path):
		if !matchesAny(i.path, r.ext) {
			return "no dependency beside golang.org/x/sys where sockets are, and go-astiav where it is joined on"
		}
	case matchesAny(i.path, r.never):
		return "on its never list"
	case r.std != nil && !slices.Contains(r.std, i.path):
		return "not among the packages it may import"
	}
	return ""
}

// checkWalls holds the rules between the parts of the house.
func checkWalls(tr *tree) (out []string) {
	for _, s := range tr.files {
		for _, i := range s.imports() {
			if why := wall(s, i); why != "" {
				out = append(out, fmt.Sprintf("%s: %s imports %q: %s", tr.at(i.pos), s.dir, i.path, why))
			}
		}
	}
	return out
}

func wall(s *source, i imp) string {
	if i.path == "C" && under(s.dir, "srtcore") {
		return "the transport has no cgo, not even in tests: it must cross-compile anywhere"
	}
	if i.path == "C" && !slices.Contains(cgoRooms, s.dir) && !strings.HasPrefix(s.dir, "examples/gst-") {
		return "cgo is for the two classes of the GStreamer plugin only: everything else is pure Go"
	}
	if !i.local {
		return binding(s, i)
	}
	if i.path == "srtcore/internal/sim" && !s.test && s.dir != i.path {
		return "the simulator is for tests; production code runs on real time"
	}
	if under(i.path, "tests") && !s.isTestCode() {
		return "test tools are not shipped"
	}
	if under(s.dir, "srtcore") && !under(i.path, "srtcore") && !s.test {
		return "the core knows nobody who uses it"
	}
	for _, a := range adapters {
		if under(s.dir, a) && i.path != a && underAny(i.path, adapters...) && !under(i.path, a) {
			return "adapters never import each other: each can be taken or left alone"
		}
	}
	if !s.test {
		for from, what := range mute {
			if s.dir == from && underAny(i.path, what...) {
				return "the page, the terminal and the client know the API's types, and the page not even those: each can be thrown away"
			}
		}
		for from, later := range backward {
			if under(s.dir, from) && underAny(i.path, later...) {
				return "the sidecar's rooms stand in the order a payload walks them, endpoint -> hub -> route -> {ingest, control}, and never back"
			}
		}
	}
	return ""
}

// binding refuses cgo that comes by way of a module.
func binding(s *source, i imp) string {
	for _, b := range cgoBindings {
		if matches(i.path, b.module) && !underAny(s.dir, b.dirs...) && !strings.HasPrefix(s.dir, b.prefix) {
			return "this module brings cgo and a C library: only the adapter to that library and its examples have it"
		}
	}
	return ""
}

func TestImportsOfEveryRoom(t *testing.T) { report(t, checkRooms(loadTree(t))) }

func TestWallsBetweenParts(t *testing.T) { report(t, checkWalls(loadTree(t))) }

func TestRoomsCatchOffenders(t *testing.T) {
	tr := mustTree(t, map[string]string{
		"srtcore/internal/engine/a.go":         "package engine\nimport _ \"sync\"\nimport _ \"net\"\nimport _ \"net/netip\"\nimport _ \"time\"",
		"srtcore/internal/engine/b.go":         "//go:build windows\n\npackage engine\nimport _ \"" + module + "/srtcore/internal/udp\"",
		"srtcore/internal/engine/c.go":         "package engine\nimport _ \"math/rand/v2\"\nimport _ \"golang.org/x/sys/unix\"",
		"srtcore/internal/engine/d_test.go":    "package engine\nimport _ \"sync\"",
		"srtcore/seq/a.go":                     "package seq\nimport _ \"fmt\"",
		"srtcore/internal/udp/a.go":            "package udp\nimport _ \"golang.org/x/sys/unix\"\nimport _ \"" + module + "/srtcore/wire\"",
		"srtcore/internal/novelty/a.go":        "package novelty",
		"gstplugin/element/a.go":               "package element\nimport \"C\"\nimport _ \"" + module + "/gstplugin\"",
		"gstplugin/shim.go":                    "package gstplugin\nimport \"C\"\nimport _ \"" + module + "/gstplugin/element\"",
		"srtcore/internal/loop/a_linux_arm.go": "package loop\nimport _ \"github.com/else/where\"",
		"ffprotocol/a.go":                      "package ffprotocol\nimport \"C\"\nimport _ \"" + astiav + "\"\nimport _ \"" + module + "/srtcore\"",
		"ffprotocol/avio/a.go":                 "package avio\nimport _ \"" + astiav + "\"\nimport \"C\"",
	})
	wantComplaints(t, checkRooms(tr),
		`a.go.*"sync"`, `a.go.*"net"`, `b.go.*internal/udp`, `math/rand/v2`, `engine.*x/sys/unix`,
		`seq.*"fmt"`, `udp.*srtcore/wire`, `novelty has no entry`, `else/where`,
		`element must not import "C"`, `element must not import "gstplugin"`,
		`ffprotocol must not import "C"`, `ffprotocol must not import "github.com/asticode`, `avio must not import "C"`)
}

func TestWallsCatchOffenders(t *testing.T) {
	p := func(s string) string { return "import _ \"" + module + "/" + s + "\"\n" }
	tr := mustTree(t, map[string]string{
		"srtcore/a.go":                "package srtcore\nimport \"C\"\n" + p("srtcore/internal/sim") + p("sidecar/hub"),
		"srtcore/a_test.go":           "package srtcore\n" + p("srtcore/internal/sim"),
		"ffprotocol/a.go":             "package ffprotocol\n" + p("sidecar/mpegts") + p("srtcore"),
		"sidecar/endpoint/a.go":       "package endpoint\n" + p("sidecar/hub") + p("sidecar/mpegts"),
		"sidecar/hub/a.go":            "package hub\n" + p("sidecar/route"),
		"sidecar/route/a.go":          "package route\n" + p("sidecar/hub") + p("sidecar/endpoint"),
		"sidecar/cmd/weirline/a.go":   "package main\n" + p("sidecar/ingest") + p("tests/lab/impair"),
		"tests/soak/a_test.go":        "package soak\n" + p("tests/lab/impair") + p("srtcore"),
		"gstplugin/props/a.go":        "package props\n" + p("gstplugin"),
		"gstplugin/element/a_test.go": "package element\nimport \"C\"",
		"gstplugin/a.go":              "package gstplugin\nimport \"C\"",
		"sidecar/ingest/deep/a.go":    "package deep\n" + p("sidecar/control"),
		"examples/ff-a/a.go":          "package main\nimport _ \"" + astiav + "\"",
		"examples/gst-a/a.go":         "package main\nimport _ \"github.com/go-gst/go-gst/gst\"",
		"sidecar/endpoint/b.go":       "package endpoint\nimport _ \"" + astiav + "\"",
		"tests/ffproto/a_test.go":     "package ffproto\nimport _ \"" + astiav + "\"\nimport _ \"github.com/go-gst/go-gst/gst\"",
		"sidecar/ingest/deep_test.go": "package ingest\n" + p("sidecar/control"),
		"sidecar/control/page/a.go":   "package page\n" + p("sidecar/control"),
		"sidecar/control/top/a.go":    "package top\n" + p("sidecar/control") + p("sidecar/hub"),
	})
	wantComplaints(t, checkWalls(tr),
		`srtcore imports "C"`, `srtcore imports "srtcore/internal/sim"`, `srtcore imports "sidecar/hub"`,
		`ffprotocol imports "sidecar/mpegts"`, `endpoint imports "sidecar/hub"`, `hub imports "sidecar/route"`,
		`element imports "C"`,
		`endpoint imports "github.com/asticode/go-astiav"`, `ffproto imports "github.com/go-gst/go-gst/gst"`,
		`weirline imports "tests/lab/impair"`, `deep imports "sidecar/control"`,
		`page imports "sidecar/control"`, `top imports "sidecar/hub"`)
}
