package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"net/netip"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
)

var _ element.Host = (*elem)(nil)

// cText is a C string for one call; done frees it.
func cText(s string) (text *C.char, done func()) {
	text = C.CString(s)
	return text, func() { C.free(unsafe.Pointer(text)) }
}

func (e *elem) emitCaller(signal string, a netip.AddrPort) {
	if !e.hold() {
		return
	}
	defer e.letGo()
	name, freeName := cText(signal)
	defer freeName()
	host, freeHost := cText(a.Addr().Unmap().String())
	defer freeHost()
	C.srtgo_emit_caller(e.object, name, host, C.int(a.Port()))
}

// CallerAdded emits caller-added.
func (e *elem) CallerAdded(a netip.AddrPort) { e.emitCaller("caller-added", a) }

// CallerRemoved emits caller-removed.
func (e *elem) CallerRemoved(a netip.AddrPort) { e.emitCaller("caller-removed", a) }

// CallerConnecting emits caller-connecting and returns the handlers' answer.
func (e *elem) CallerConnecting(a netip.AddrPort, streamID string) bool {
	if !e.hold() {
		return false
	}
	defer e.letGo()
	host, freeHost := cText(a.Addr().Unmap().String())
	defer freeHost()
	id, freeID := cText(streamID)
	defer freeID()
	return C.srtgo_emit_connecting(e.object, host, C.int(a.Port()), id) != 0
}

// CallerRejected emits caller-rejected.
func (e *elem) CallerRejected(a netip.AddrPort, streamID string) {
	if !e.hold() {
		return
	}
	defer e.letGo()
	host, freeHost := cText(a.Addr().Unmap().String())
	defer freeHost()
	id, freeID := cText(streamID)
	defer freeID()
	C.srtgo_emit_rejected(e.object, host, C.int(a.Port()), id)
}

// Warning posts a warning message.
func (e *elem) Warning(r element.Report) {
	if e.hold() {
		defer e.letGo()
		e.post(false, r)
	}
}

// Error posts an error message.
func (e *elem) Error(r element.Report) {
	if e.hold() {
		defer e.letGo()
		e.post(true, r)
	}
}

// ConnectionRemoved posts the element message of that name.
func (e *elem) ConnectionRemoved() {
	if e.hold() {
		defer e.letGo()
		C.srtgo_post_connection_removed(e.object)
	}
}

// LatencyChanged posts a latency message: the pipeline may ask again.
func (e *elem) LatencyChanged() {
	if e.hold() {
		defer e.letGo()
		C.srtgo_post_latency(e.object)
	}
}

// post is for calls that hold the GObject anyway.
func (e *elem) post(isError bool, r element.Report) {
	e.postCode(isError, resourceError(r.Code), r)
}

// postCode posts r under another code.
func (e *elem) postCode(isError bool, code C.int, r element.Report) {
	text, freeText := cText(r.Text)
	defer freeText()
	debug, freeDebug := cText(r.Debug)
	defer freeDebug()
	reason, freeReason := cText(r.Reason)
	defer freeReason()
	kind := C.gboolean(0)
	if isError {
		kind = 1
	}
	C.srtgo_post(e.object, kind, code, text, debug, reason, C.int(r.ReasonCode))
}

// warnSetting tells that a property was given an unusable value. Most are set
// before there is a bus; starting will be refused then, with the same words.
func (e *elem) warnSetting(err error) {
	if C.srtgo_has_bus(e.object) != 0 {
		e.post(false, element.Report{Code: element.Settings, Text: err.Error()})
		return
	}
	text, done := cText(err.Error())
	defer done()
	C.srtgo_warn_unbound(e.object, text)
}

func resourceError(c element.Code) C.int {
	switch c {
	case element.OpenRead:
		return C.GST_RESOURCE_ERROR_OPEN_READ
	case element.OpenWrite:
		return C.GST_RESOURCE_ERROR_OPEN_WRITE
	case element.Read:
		return C.GST_RESOURCE_ERROR_READ
	case element.Write:
		return C.GST_RESOURCE_ERROR_WRITE
	case element.NotAuthorized:
		return C.GST_RESOURCE_ERROR_NOT_AUTHORIZED
	case element.Settings:
		return C.GST_RESOURCE_ERROR_SETTINGS
	}
	return C.GST_RESOURCE_ERROR_FAILED
}
