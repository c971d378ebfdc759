/* The description GStreamer looks for in libgstsrtgo.so. */
#include "_cgo_export.h"

#define PACKAGE "weirline"

static gboolean
plugin_init (GstPlugin * plugin)
{
  return weirlinePluginInit (plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, srtgo,
    "SRT source and sink in Go", plugin_init, "0.1", "MIT/X11", "weirline",
    "https://github.com/weirline/weirline")
