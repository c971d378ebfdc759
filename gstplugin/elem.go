package gstplugin

/*
#cgo pkg-config: gstreamer-1.0 gstreamer-base-1.0 gio-2.0
#cgo CFLAGS: -Wall -O2
#include "shim.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/gstplugin/props"
)

// engine is what a Source and a Sink have in common.
type engine interface {
	Start() error
	Stop()
	Unlock()
	UnlockStop()
	Latency() (time.Duration, bool)
	Stats() element.Stats
}

// elem is the Go side of one GObject. It lives from the instance's init to its
// finalize; the GObject is used by others than its own calls only while running.
type elem struct {
	object   *C.GstElement
	settings *props.Settings
	engine   engine
	sink     *element.Sink // nil of a source
	in       *inlet        // nil of a sink
	out      *outlet       // nil of a source

	segments [C.SRTGO_WRITE_BATCH][]byte // the streaming thread's own

	mu      sync.Mutex
	running bool  // Start was called and Stop has not returned
	badURI  error // of the property; starting is refused
}

func newElem(object *C.GstElement, side props.Side) *elem {
	e := &elem{object: object, settings: props.NewSettings(side)}
	if side == props.Source {
		s := element.NewSource(e, e.settings)
		e.engine, e.in = s, newInlet(s, e.panicked)
		// What is late may still shut the ring of an element that is gone.
		runtime.AddCleanup(e.in, freeRing, unsafe.Pointer(e.in.ring))
	} else {
		e.sink = element.NewSink(e, e.settings)
		e.engine, e.out = e.sink, newOutlet(e.sink, e.panicked)
		runtime.AddCleanup(e.out, freeRing, unsafe.Pointer(e.out.ring))
	}
	return e
}

func freeRing(ring unsafe.Pointer) { C.free(ring) }

// reclaim ends the service of the rings.
func (e *elem) reclaim() {
	if e.in != nil {
		e.in.reclaim()
	} else {
		e.out.reclaim()
	}
}

// elems finds an elem by its handle, which is its place in the list plus one. A
// new element copies the list, so that looking up takes no lock: it is done for
// every buffer.
var elems struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*elem]
}

func register(e *elem) C.SrtGoHandle {
	elems.mu.Lock()
	defer elems.mu.Unlock()
	var list []*elem
	if old := elems.list.Load(); old != nil {
		list = slices.Clone(*old)
	}
	i := slices.Index(list, nil)
	if i < 0 {
		i, list = len(list), append(list, nil)
	}
	list[i] = e
	elems.list.Store(&list)
	return C.SrtGoHandle(i + 1)
}

func unregister(h C.SrtGoHandle) {
	elems.mu.Lock()
	defer elems.mu.Unlock()
	if lookup(h) == nil {
		return
	}
	list := slices.Clone(*elems.list.Load())
	list[h-1] = nil
	elems.list.Store(&list)
}

// lookup returns nil if there is no such element.
func lookup(h C.SrtGoHandle) *elem {
	list := elems.list.Load()
	if list == nil || h == 0 || int(h) > len(*list) {
		return nil
	}
	return (*list)[h-1]
}

// fault is called first in every export, if a test has set it.
var fault func(export string)

// enter is the beginning of every export, after the defer that rescues.
func enter(export string) {
	if fault != nil {
		fault(export)
	}
}

// rescue, deferred, makes an error of a panic: Go would end the process, which
// is not ours.
func (e *elem) rescue(export string, result *C.int) {
	if r := recover(); r != nil {
		*result = C.SRTGO_FAILED
		e.panicked(export, r)
	}
}

// rescueVoid is rescue of an export without a result.
func (e *elem) rescueVoid(export string) {
	if r := recover(); r != nil {
		e.panicked(export, r)
	}
}

// rescueUnlock also stops the element: the streaming thread may be waiting for
// the unlock, and a state change for the streaming thread.
func (e *elem) rescueUnlock() {
	if r := recover(); r != nil {
		e.panicked("unlock", r)
		defer e.rescueVoid("unlock")
		e.stop()
	}
}

func (e *elem) panicked(where string, what any) {
	defer func() { _ = recover() }() // printing a foreign value may panic again
	if e == nil {
		return
	}
	e.postCode(true, C.GST_RESOURCE_ERROR_FAILED, element.Report{
		Text:  fmt.Sprintf("internal fault in %s: %v", where, what),
		Debug: string(debug.Stack()),
	})
}

func (e *elem) setRunning(running bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.running = running
}

// hold keeps the GObject for a call from a goroutine; false: it was stopped, and
// may be gone.
func (e *elem) hold() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		C.gst_object_ref(C.gpointer(e.object))
	}
	return e.running
}

func (e *elem) letGo() { C.gst_object_unref(C.gpointer(e.object)) }
