/* What the C files know of each other. */
#ifndef WEIRLINE_GSTPLUGIN_PRIVATE_H
#define WEIRLINE_GSTPLUGIN_PRIVATE_H

#include "shim.h"

GST_DEBUG_CATEGORY_EXTERN (srtgo_debug);
#define GST_CAT_DEFAULT srtgo_debug

GType gst_srt_go_src_get_type (void);
GType gst_srt_go_sink_get_type (void);

/* class.c */
void srtgo_class_init (GObjectClass * klass, int side);
void srtgo_uri_handler_init_source (gpointer iface, gpointer data);
void srtgo_uri_handler_init_sink (gpointer iface, gpointer data);

/* src.c, sink.c */
SrtGoHandle srtgo_src_handle (gpointer element);
SrtGoHandle srtgo_sink_handle (gpointer element);

/* bus.c */
void srtgo_install_signals (GType type);
GstStructure *srtgo_stats (SrtGoHandle h, int side);

#endif
