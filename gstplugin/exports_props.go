package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"errors"

	"github.com/weirline/weirline/gstplugin/props"
)

// Properties are set and read from any thread, in any state.

//export srtgoSetString
func srtgoSetString(h C.SrtGoHandle, index C.int, text *C.char) {
	e := lookup(h)
	defer e.rescueVoid("set_property")
	enter("set_property")
	name := props.Table()[index].Name
	var err error
	if text == nil {
		err = e.settings.SetNull(name)
	} else {
		err = e.settings.SetString(name, C.GoString(text))
	}
	if err != nil {
		e.warnSetting(err)
	}
}

//export srtgoSetInt
func srtgoSetInt(h C.SrtGoHandle, index C.int, value C.int64_t) {
	e := lookup(h)
	defer e.rescueVoid("set_property")
	enter("set_property")
	p := &props.Table()[index]
	var err error
	if p.Kind == props.Bool {
		err = e.settings.SetBool(p.Name, value != 0)
	} else {
		err = e.settings.SetInt(p.Name, int64(value))
	}
	if err != nil {
		e.warnSetting(err)
	}
}

//export srtgoGetString
func srtgoGetString(h C.SrtGoHandle, index C.int) (text *C.char) {
	e := lookup(h)
	defer e.rescueVoid("get_property")
	enter("get_property")
	name := props.Table()[index].Name
	if name == props.URI {
		return C.CString(e.settings.URI())
	}
	if s, ok := e.settings.LookupString(name); ok {
		return C.CString(s)
	}
	return nil
}

//export srtgoGetInt
func srtgoGetInt(h C.SrtGoHandle, index C.int) (value C.int64_t) {
	e := lookup(h)
	defer e.rescueVoid("get_property")
	enter("get_property")
	p := &props.Table()[index]
	if p.Kind != props.Bool {
		return C.int64_t(e.settings.GetInt(p.Name))
	}
	if e.settings.GetBool(p.Name) {
		return 1
	}
	return 0
}

// srtgoSetURI takes the URI of the property and of the GstURIHandler. The caller
// frees why.
//
//export srtgoSetURI
func srtgoSetURI(h C.SrtGoHandle, text *C.char, why **C.char) (result C.int) {
	e := lookup(h)
	defer e.rescue("set_uri", &result)
	enter("set_uri")
	uri := ""
	if text != nil {
		uri = C.GoString(text)
	}
	warnings, err := e.settings.SetURI(uri)
	if errors.Is(err, props.ErrOpen) {
		*why = C.CString(err.Error())
		return C.SRTGO_URI_BUSY
	}
	e.mu.Lock()
	e.badURI = err
	e.mu.Unlock()
	if err != nil {
		*why = C.CString(err.Error())
		e.warnSetting(err)
		return C.SRTGO_URI_BAD
	}
	_ = warnings // the element posts them when it starts
	return C.SRTGO_URI_OK
}

//export srtgoGetURI
func srtgoGetURI(h C.SrtGoHandle) (text *C.char) {
	e := lookup(h)
	defer e.rescueVoid("get_uri")
	enter("get_uri")
	return C.CString(e.settings.URI())
}
