/* The two classes as GObject sees them: registration, properties and URIs. The
 * properties come from the one table in Go, package props. */
#include <string.h>
#include <time.h>
#include "_cgo_export.h"
#include "private.h"

GST_DEBUG_CATEGORY (srtgo_debug);

static const SrtGoSpec *specs;
static guint n_specs;

/* The property "stats" is not in the table: it is no setting. */
#define PROP_STATS (n_specs + 1)

int64_t
srtgo_monotonic (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (int64_t) t.tv_sec * 1000000000 + t.tv_nsec;
}

uintptr_t
srtgo_thread (void)
{
  return (uintptr_t) g_thread_self ();
}

/* A second copy of this code in one process, an application's own and the shared
 * object, finds the types there and uses them. */
static GType
type_or (const char *name, GType (*get) (void))
{
  GType t = g_type_from_name (name);

  return t ? t : get ();
}

gboolean
srtgo_register (GstPlugin * plugin, const SrtGoSpec * table, guint n)
{
  GST_DEBUG_CATEGORY_INIT (srtgo_debug, "srtgo", 0, "SRT elements in Go");
  specs = table;
  n_specs = n;
  /* Below the elements of libsrt: who has both keeps what playbin chose. */
  return gst_element_register (plugin, "srtgosrc", GST_RANK_SECONDARY,
      type_or ("GstSrtGoSrc", gst_srt_go_src_get_type))
      && gst_element_register (plugin, "srtgosink", GST_RANK_SECONDARY,
      type_or ("GstSrtGoSink", gst_srt_go_sink_get_type));
}

static SrtGoHandle
handle_of (gpointer element)
{
  return GST_IS_URI_HANDLER (element)
      && gst_uri_handler_get_uri_type (GST_URI_HANDLER (element)) ==
      GST_URI_SRC ? srtgo_src_handle (element) : srtgo_sink_handle (element);
}

static int
side_of (gpointer element)
{
  return gst_uri_handler_get_uri_type (GST_URI_HANDLER (element)) == GST_URI_SRC
      ? SRTGO_SOURCE : SRTGO_SINK;
}

/* URIs */

static const gchar *const *
uri_protocols (GType type)
{
  static const gchar *protocols[] = { "srt", "srtgo", NULL };

  return protocols;
}

static GstURIType
uri_type_source (GType type)
{
  return GST_URI_SRC;
}

static GstURIType
uri_type_sink (GType type)
{
  return GST_URI_SINK;
}

static gchar *
uri_get (GstURIHandler * handler)
{
  char *text = srtgoGetURI (handle_of (handler));
  gchar *uri = g_strdup (text);

  free (text);
  return uri;
}

static gboolean
uri_set (GstURIHandler * handler, const gchar * uri, GError ** error)
{
  char *why = NULL;
  int result = srtgoSetURI (handle_of (handler), (char *) uri, &why);

  if (result == SRTGO_URI_OK)
    return TRUE;
  if (result == SRTGO_URI_BUSY)
    g_warning ("%s", why ? why : "the URI cannot change while open");
  g_set_error (error, GST_URI_ERROR,
      result == SRTGO_URI_BUSY ? GST_URI_ERROR_BAD_STATE :
      GST_URI_ERROR_BAD_URI, "%s", why ? why : "unusable URI");
  free (why);
  return FALSE;
}

static void
uri_handler_init (GstURIHandlerInterface * iface)
{
  iface->get_protocols = uri_protocols;
  iface->get_uri = uri_get;
  iface->set_uri = uri_set;
}

void
srtgo_uri_handler_init_source (gpointer iface, gpointer data)
{
  uri_handler_init (iface);
  ((GstURIHandlerInterface *) iface)->get_type = uri_type_source;
}

void
srtgo_uri_handler_init_sink (gpointer iface, gpointer data)
{
  uri_handler_init (iface);
  ((GstURIHandlerInterface *) iface)->get_type = uri_type_sink;
}

/* Properties. An index is the place in the table, a property's id one more. */

static void
set_property (GObject * object, guint id, const GValue * value,
    GParamSpec * pspec)
{
  SrtGoHandle h = handle_of (object);
  gint64 i;

  if (id < 1 || id > n_specs) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
    return;
  }
  switch (specs[id - 1].kind) {
    case SRTGO_STRING:
      if (!strcmp (specs[id - 1].name, "uri"))
        uri_set (GST_URI_HANDLER (object), g_value_get_string (value), NULL);
      else
        srtgoSetString (h, id - 1, (char *) g_value_get_string (value));
      return;
    case SRTGO_INT:
      i = g_value_get_int (value);
      break;
    case SRTGO_UINT:
      i = g_value_get_uint (value);
      break;
    case SRTGO_INT64:
      i = g_value_get_int64 (value);
      break;
    case SRTGO_BOOL:
      i = g_value_get_boolean (value);
      break;
    default:
      i = g_value_get_enum (value);
  }
  srtgoSetInt (h, id - 1, i);
}

static void
get_setting (SrtGoHandle h, guint index, GValue * value)
{
  char *text;

  switch (specs[index].kind) {
    case SRTGO_STRING:
      text = srtgoGetString (h, index);
      g_value_set_string (value, text);
      free (text);
      break;
    case SRTGO_INT:
      g_value_set_int (value, srtgoGetInt (h, index));
      break;
    case SRTGO_UINT:
      g_value_set_uint (value, srtgoGetInt (h, index));
      break;
    case SRTGO_INT64:
      g_value_set_int64 (value, srtgoGetInt (h, index));
      break;
    case SRTGO_BOOL:
      g_value_set_boolean (value, srtgoGetInt (h, index) != 0);
      break;
    default:
      g_value_set_enum (value, srtgoGetInt (h, index));
  }
}

static void
get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  SrtGoHandle h = handle_of (object);

  if (id == PROP_STATS)
    g_value_take_boxed (value, srtgo_stats (h, side_of (object)));
  else if (id >= 1 && id <= n_specs)
    get_setting (h, id - 1, value);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static GParamFlags
flags_of (const SrtGoSpec * s)
{
  GParamFlags f = G_PARAM_STATIC_STRINGS;

  if (s->flags & SRTGO_READABLE)
    f |= G_PARAM_READABLE;
  if (s->flags & SRTGO_WRITABLE)
    f |= G_PARAM_WRITABLE;
  if (s->flags & SRTGO_MUTABLE_READY)
    f |= GST_PARAM_MUTABLE_READY;
  if (s->flags & SRTGO_MUTABLE_PLAYING)
    f |= GST_PARAM_MUTABLE_PLAYING;
  return f;
}

static GType
enum_of (const SrtGoSpec * s)
{
  GType t = g_type_from_name (s->enum_type);

  return t ? t : g_enum_register_static (s->enum_type, s->enum_values);
}

static GParamSpec *
param_of (const SrtGoSpec * s)
{
  GParamFlags f = flags_of (s);

  switch (s->kind) {
    case SRTGO_STRING:
      return g_param_spec_string (s->name, s->name, s->blurb, s->def_string, f);
    case SRTGO_INT:
      return g_param_spec_int (s->name, s->name, s->blurb, s->min, s->max,
          s->def, f);
    case SRTGO_UINT:
      return g_param_spec_uint (s->name, s->name, s->blurb, s->min, s->max,
          s->def, f);
    case SRTGO_INT64:
      return g_param_spec_int64 (s->name, s->name, s->blurb, s->min, s->max,
          s->def, f);
    case SRTGO_BOOL:
      return g_param_spec_boolean (s->name, s->name, s->blurb, s->def != 0, f);
    default:
      return g_param_spec_enum (s->name, s->name, s->blurb, enum_of (s),
          s->def, f);
  }
}

void
srtgo_class_init (GObjectClass * klass, int side)
{
  guint i;

  klass->set_property = set_property;
  klass->get_property = get_property;
  for (i = 0; i < n_specs; i++)
    if (specs[i].sides & side)
      g_object_class_install_property (klass, i + 1, param_of (&specs[i]));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats", "Statistics of the connections",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
  srtgo_install_signals (G_OBJECT_CLASS_TYPE (klass));
}
