package gstplugin

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/weirline/weirline/gstplugin/props"
)

// Register makes srtgosrc and srtgosink known to GStreamer in this process; they
// run in this program's Go runtime. GStreamer is initialised if it is not yet.
// Calling it again is fine. If the elements of libgstsrtgo.so are in use already,
// these stay.
func Register() error {
	if C.gst_init_check(nil, nil, nil) == 0 {
		return errors.New("GStreamer could not be initialised")
	}
	return registerWith(nil)
}

// RegisterPlugin is Register on behalf of the shared object; plugin is its
// GstPlugin.
func RegisterPlugin(plugin unsafe.Pointer) error {
	return registerWith((*C.GstPlugin)(plugin))
}

func registerWith(plugin *C.GstPlugin) error {
	clocks()
	s := specs()
	if C.srtgo_register(plugin, unsafe.SliceData(s), C.guint(len(s))) == 0 {
		return errors.New("GStreamer refused to register srtgosrc and srtgosink")
	}
	return nil
}

// specs is the table of properties as C reads it: made once, in C's memory, and
// never freed, since classes are never unloaded.
var specs = sync.OnceValue(func() []C.SrtGoSpec {
	table := props.Table()
	n := 0
	for n < len(table) && table[n].Property {
		n++
	}
	memory := C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(C.SrtGoSpec{})))
	out := unsafe.Slice((*C.SrtGoSpec)(memory), n)
	for i := range out {
		fillSpec(&out[i], &table[i])
	}
	return out
})

func fillSpec(out *C.SrtGoSpec, p *props.Spec) {
	out.name, out.blurb = C.CString(p.Name), C.CString(p.Doc)
	out.sides = C.int(p.On)
	out.min, out.max, out.def = C.int64_t(p.Min), C.int64_t(p.Max), C.int64_t(p.Default)
	for flag, on := range map[C.int]bool{
		C.SRTGO_READABLE:        p.Readable,
		C.SRTGO_WRITABLE:        p.Writable,
		C.SRTGO_MUTABLE_READY:   p.MutableReady,
		C.SRTGO_MUTABLE_PLAYING: p.MutablePlaying,
	} {
		if on {
			out.flags |= flag
		}
	}
	switch p.Kind {
	case props.String:
		out.kind = C.SRTGO_STRING
		if !p.NullDefault {
			out.def_string = C.CString(p.DefaultText)
		}
	case props.Int:
		out.kind = C.SRTGO_INT
	case props.Uint:
		out.kind = C.SRTGO_UINT
	case props.Int64:
		out.kind = C.SRTGO_INT64
	case props.Bool:
		out.kind = C.SRTGO_BOOL
	case props.Enum:
		out.kind = C.SRTGO_ENUM
		out.enum_type = C.CString(p.Enum.TypeName)
		out.enum_values = enumValues(p.Enum.Values)
	}
}

// enumValues ends with a row of zeros, as GObject wants it.
func enumValues(values []props.EnumValue) *C.GEnumValue {
	memory := C.calloc(C.size_t(len(values)+1), C.size_t(unsafe.Sizeof(C.GEnumValue{})))
	out := unsafe.Slice((*C.GEnumValue)(memory), len(values)+1)
	for i, v := range values {
		out[i].value = C.gint(v.Value)
		out[i].value_name = (*C.gchar)(C.CString(v.Name))
		out[i].value_nick = (*C.gchar)(C.CString(v.Nick))
	}
	return unsafe.SliceData(out)
}
