package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"sync"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/element"
)

// fieldNames are the names of statistics as C knows them. They are few and the
// same for every element, so they stay.
var fieldNames struct {
	mu    sync.Mutex
	names map[string]*C.char
}

func fieldName(s string) *C.char {
	fieldNames.mu.Lock()
	defer fieldNames.mu.Unlock()
	if c, ok := fieldNames.names[s]; ok {
		return c
	}
	if fieldNames.names == nil {
		fieldNames.names = map[string]*C.char{}
	}
	c := C.CString(s)
	fieldNames.names[s] = c
	return c
}

// srtgoStats returns how many fields it put into fields, which goes back with
// srtgoFreeStats.
//
//export srtgoStats
func srtgoStats(h C.SrtGoHandle, fields **C.SrtGoField, total *C.uint64_t) (result C.int) {
	e := lookup(h)
	defer e.rescue("stats", &result)
	enter("stats")
	s := e.engine.Stats()
	*total = C.uint64_t(s.Total)
	n := 0
	for i := range s.Conns {
		n += 1 + len(s.Conns[i].Fields)
	}
	if n == 0 {
		return 0
	}
	memory := (*C.SrtGoField)(C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(C.SrtGoField{}))))
	if memory == nil {
		return 0
	}
	out := unsafe.Slice(memory, n)
	used := 0
	for i := range s.Conns {
		used += putConn(out[used:], &s.Conns[i], s.Listener)
	}
	*fields = memory
	return C.int(used)
}

// putConn writes one connection's fields, a listener's behind its caller's
// address.
func putConn(out []C.SrtGoField, c *element.ConnStats, caller bool) int {
	n := 0
	if caller {
		out[0].kind = C.SRTGO_CALLER
		out[0].name = C.CString(c.Caller.Addr().Unmap().String())
		out[0].i = C.int64_t(c.Caller.Port())
		n = 1
	}
	for _, f := range c.Fields {
		o := &out[n]
		n++
		o.name = fieldName(f.Name)
		o.i = C.int64_t(f.I)
		o.d = C.double(f.F)
		switch f.Kind {
		case element.Int:
			o.kind = C.SRTGO_INT
		case element.Int64:
			o.kind = C.SRTGO_INT64
		case element.Uint64:
			o.kind = C.SRTGO_UINT64
		case element.Double:
			o.kind = C.SRTGO_DOUBLE
		}
	}
	return n
}

//export srtgoFreeStats
func srtgoFreeStats(fields *C.SrtGoField, n C.int) {
	defer (*elem)(nil).rescueVoid("free_stats")
	if fields == nil {
		return
	}
	for _, f := range unsafe.Slice(fields, n) {
		if f.kind == C.SRTGO_CALLER {
			C.free(unsafe.Pointer(f.name))
		}
	}
	C.free(unsafe.Pointer(fields))
}
