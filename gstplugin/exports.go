package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
	"github.com/weirline/weirline/gstplugin/props"
)

// The life of an element and its packets. Every export begins with the lookup,
// which cannot panic, and with the rescue of all that can.

//export srtgoNew
func srtgoNew(object *C.GstElement, side C.int) (h C.SrtGoHandle) {
	defer func() {
		if recover() != nil { // an element half made cannot post
			h = 0
		}
	}()
	enter("new")
	return register(newElem(object, props.Side(side)))
}

//export srtgoFree
func srtgoFree(h C.SrtGoHandle) {
	e := lookup(h)
	defer func() {
		unregister(h)
		_ = recover() // nobody is left to be told
	}()
	enter("free")
	if e != nil {
		e.stop() // in case the state never went to NULL
	}
}

//export srtgoStart
func srtgoStart(h C.SrtGoHandle) (result C.int) {
	e := lookup(h)
	defer e.rescue("start", &result)
	enter("start")
	return e.start()
}

func (e *elem) start() (result C.int) {
	result = C.SRTGO_FAILED
	e.setRunning(true)
	defer func() {
		if result != C.SRTGO_OK {
			e.setRunning(false)
		}
	}()
	e.mu.Lock()
	err := e.badURI
	e.mu.Unlock()
	if err == nil {
		err = e.engine.Start()
	}
	if err == nil {
		return C.SRTGO_OK
	}
	var r *element.Report
	if !errors.As(err, &r) {
		r = &element.Report{Code: element.Settings, Text: err.Error()}
	}
	e.post(true, *r)
	return C.SRTGO_FAILED
}

//export srtgoStop
func srtgoStop(h C.SrtGoHandle) {
	e := lookup(h)
	defer e.rescueVoid("stop")
	enter("stop")
	e.stop()
}

func (e *elem) stop() {
	defer e.setRunning(false)
	defer e.reclaim()
	e.engine.Stop()
}

//export srtgoUnlock
func srtgoUnlock(h C.SrtGoHandle) {
	e := lookup(h)
	defer e.rescueUnlock()
	enter("unlock")
	e.engine.Unlock()
}

//export srtgoUnlockStop
func srtgoUnlockStop(h C.SrtGoHandle) {
	e := lookup(h)
	defer e.rescueVoid("unlock_stop")
	enter("unlock_stop")
	e.engine.UnlockStop()
}

//export srtgoLatency
func srtgoLatency(h C.SrtGoHandle, ns *C.int64_t) (result C.int) {
	e := lookup(h)
	defer e.rescue("latency", &result)
	enter("latency")
	latency, _ := e.engine.Latency()
	*ns = C.int64_t(latency)
	return C.SRTGO_OK
}

//export srtgoSourceRing
func srtgoSourceRing(h C.SrtGoHandle) *C.SrtGoSourceRing {
	e := lookup(h)
	defer e.rescueVoid("source_ring")
	if e == nil {
		return nil
	}
	return e.in.ring
}

//export srtgoSinkRing
func srtgoSinkRing(h C.SrtGoHandle) *C.SrtGoSinkRing {
	e := lookup(h)
	defer e.rescueVoid("sink_ring")
	if e == nil {
		return nil
	}
	return e.out.ring
}

//export srtgoRead
func srtgoRead(h C.SrtGoHandle) (result C.int) {
	e := lookup(h)
	defer e.rescue("read", &result)
	enter("read")
	return statusCode(e.in.read())
}

//export srtgoWrite
func srtgoWrite(h C.SrtGoHandle, in *C.SrtGoSegment, n C.int, taken *C.int) (result C.int) {
	e := lookup(h)
	defer e.rescue("write", &result)
	enter("write")
	msgs := goSegments(e.segments[:0], unsafe.Slice(in, n))
	done, status := e.out.write(msgs)
	*taken = C.int(done)
	clear(msgs)
	return statusCode(status)
}

//export srtgoSetHeaders
func srtgoSetHeaders(h C.SrtGoHandle, in *C.SrtGoSegment, n C.int) (result C.int) {
	e := lookup(h)
	defer e.rescue("set_caps", &result)
	enter("set_caps")
	var headers [][]byte
	for _, m := range goSegments(nil, unsafe.Slice(in, n)) {
		if len(m) > 0 {
			headers = append(headers, m) // SetHeaders copies
		}
	}
	e.sink.SetHeaders(headers)
	return C.SRTGO_OK
}

// goSegments views C's memory for the time of a call.
func goSegments(dst [][]byte, in []C.SrtGoSegment) [][]byte {
	for i := range in {
		dst = append(dst, unsafe.Slice((*byte)(in[i].data), in[i].len))
	}
	return dst
}

//export srtgoDrain
func srtgoDrain(h C.SrtGoHandle) (result C.int) {
	e := lookup(h)
	defer e.rescue("drain", &result)
	enter("drain")
	if s := e.out.flush(); s != element.OK {
		return statusCode(s)
	}
	return statusCode(e.sink.Drain())
}

func statusCode(s element.Status) C.int {
	switch s {
	case element.OK:
		return C.SRTGO_OK
	case element.EOS:
		return C.SRTGO_EOS
	case element.Flushing:
		return C.SRTGO_FLUSHING
	}
	return C.SRTGO_FAILED
}
