/* What the elements tell: messages on the bus, signals and statistics. Go calls
 * these from threads of its own, with no lock held. */
#define GLIB_DISABLE_DEPRECATION_WARNINGS /* stats holds a GValueArray, as srtsrc's does */
#include <gio/gio.h>
#include "_cgo_export.h"
#include "private.h"

/* Messages */

void
srtgo_post (GstElement * element, gboolean error, int code, const char *text,
    const char *debug, const char *reason, int reason_code)
{
  GstStructure *details = NULL;

  if (reason && *reason)
    details = gst_structure_new ("details", "reason", G_TYPE_STRING, reason,
        "code", G_TYPE_INT, reason_code, NULL);
  gst_element_message_full_with_details (element,
      error ? GST_MESSAGE_ERROR : GST_MESSAGE_WARNING, GST_RESOURCE_ERROR,
      code, text && *text ? g_strdup (text) : NULL, g_strdup (debug),
      "srtgo", error ? "error" : "warning", 0, details);
}

void
srtgo_post_connection_removed (GstElement * element)
{
  gst_element_post_message (element,
      gst_message_new_element (GST_OBJECT (element),
          gst_structure_new_empty ("connection-removed")));
}

void
srtgo_post_latency (GstElement * element)
{
  gst_element_post_message (element,
      gst_message_new_latency (GST_OBJECT (element)));
}

gboolean
srtgo_has_bus (GstElement * element)
{
  GstBus *bus = gst_element_get_bus (element);

  if (!bus)
    return FALSE;
  gst_object_unref (bus);
  return TRUE;
}

void
srtgo_warn_unbound (GstElement * element, const char *text)
{
  GST_WARNING_OBJECT (element, "%s", text);
}

/* Signals */

static gboolean
connecting_default (GstElement * element, GSocketAddress * address,
    const gchar * stream_id)
{
  return TRUE;
}

/* The first handler that says no has decided. */
static gboolean
all_agree (GSignalInvocationHint * hint, GValue * result,
    const GValue * answer, gpointer data)
{
  gboolean yes = g_value_get_boolean (answer);

  g_value_set_boolean (result, yes);
  return yes;
}

void
srtgo_install_signals (GType type)
{
  g_signal_new ("caller-added", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
      G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_SOCKET_ADDRESS);
  g_signal_new ("caller-removed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
      G_TYPE_NONE, 2, G_TYPE_INT, G_TYPE_SOCKET_ADDRESS);
  g_signal_new ("caller-rejected", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
      NULL, G_TYPE_NONE, 2, G_TYPE_SOCKET_ADDRESS, G_TYPE_STRING);
  g_signal_new_class_handler ("caller-connecting", type, G_SIGNAL_RUN_LAST,
      G_CALLBACK (connecting_default), all_agree, NULL, NULL, G_TYPE_BOOLEAN, 2,
      G_TYPE_SOCKET_ADDRESS, G_TYPE_STRING);
}

static GSocketAddress *
address_of (const char *host, int port)
{
  return g_inet_socket_address_new_from_string (host, port);
}

void
srtgo_emit_caller (GstElement * element, const char *signal, const char *host,
    int port)
{
  GSocketAddress *address = address_of (host, port);

  /* The integer was a socket once; srtsrc has sent 0 since it lost its meaning. */
  g_signal_emit_by_name (element, signal, 0, address);
  g_clear_object (&address);
}

void
srtgo_emit_rejected (GstElement * element, const char *host, int port,
    const char *stream_id)
{
  GSocketAddress *address = address_of (host, port);

  g_signal_emit_by_name (element, "caller-rejected", address, stream_id);
  g_clear_object (&address);
}

gboolean
srtgo_emit_connecting (GstElement * element, const char *host, int port,
    const char *stream_id)
{
  GSocketAddress *address = address_of (host, port);
  gboolean yes = TRUE;

  g_signal_emit_by_name (element, "caller-connecting", address, stream_id,
      &yes);
  g_clear_object (&address);
  return yes;
}

/* Statistics */

#define STATISTICS "application/x-srt-statistics"

static void
set_field (GstStructure * s, const SrtGoField * f)
{
  switch (f->kind) {
    case SRTGO_INT:
      gst_structure_set (s, f->name, G_TYPE_INT, (gint) f->i, NULL);
      break;
    case SRTGO_INT64:
      gst_structure_set (s, f->name, G_TYPE_INT64, (gint64) f->i, NULL);
      break;
    case SRTGO_UINT64:
      gst_structure_set (s, f->name, G_TYPE_UINT64, (guint64) f->i, NULL);
      break;
    case SRTGO_DOUBLE:
      gst_structure_set (s, f->name, G_TYPE_DOUBLE, f->d, NULL);
      break;
  }
}

/* The address comes last, as in the structures of srtsrc. */
static void
append_caller (GValueArray * list, GstStructure * s, const SrtGoField * caller)
{
  GSocketAddress *address = address_of (caller->name, caller->i);
  GValue v = G_VALUE_INIT;

  gst_structure_set (s, "caller-address", G_TYPE_SOCKET_ADDRESS, address, NULL);
  g_clear_object (&address);

  g_value_init (&v, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&v, s);
  g_value_array_append (list, &v);
  g_value_unset (&v);
}

/* Fields before the first caller belong to the structure itself: the flat shape
 * of a caller's only connection. */
GstStructure *
srtgo_stats (SrtGoHandle h, int side)
{
  GstStructure *top, *s;
  GValueArray *callers = NULL;
  SrtGoField *fields = NULL, *caller = NULL;
  uint64_t total = 0;
  int i, n;

  n = srtgoStats (h, &fields, &total);
  top = s = gst_structure_new_empty (STATISTICS);
  for (i = 0; i < n; i++) {
    if (fields[i].kind != SRTGO_CALLER) {
      set_field (s, &fields[i]);
      continue;
    }
    if (!callers)
      callers = g_value_array_new (4);
    else
      append_caller (callers, s, caller);
    s = gst_structure_new_empty (STATISTICS);
    caller = &fields[i];
  }
  if (callers) {
    append_caller (callers, s, caller);
    gst_structure_set (top, "callers", G_TYPE_VALUE_ARRAY, callers, NULL);
    g_value_array_free (callers);
  }
  gst_structure_set (top, side == SRTGO_SOURCE ? "bytes-received-total" :
      "bytes-sent-total", G_TYPE_UINT64, (guint64) total, NULL);
  srtgoFreeStats (fields, n);
  return top;
}
