// Command plugin is libgstsrtgo.so: the elements srtgosrc and srtgosink for
// programs in any language. It is built with -buildmode=c-shared.
//
// Lives here: the plugin's description and its entry. May import: gstplugin.
// Never: anything else of this module.
package main

/*
#cgo pkg-config: gstreamer-1.0
#include <gst/gst.h>
*/
import "C"

import (
	"unsafe"

	"github.com/weirline/weirline/gstplugin"
)

//export weirlinePluginInit
func weirlinePluginInit(plugin *C.GstPlugin) (ok C.gboolean) {
	defer func() {
		if recover() != nil {
			ok = 0
		}
	}()
	if gstplugin.RegisterPlugin(unsafe.Pointer(plugin)) != nil {
		return 0
	}
	return 1
}

func main() {}
