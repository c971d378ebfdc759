/* srtgosink: sends each buffer as one packet, or as many as it needs. They go into
 * a ring that Go empties; what is out of the ordinary goes to Go in a call. */
#include <string.h>
#include <sys/timerfd.h>
#include <gst/base/gstbasesink.h>
#include "_cgo_export.h"
#include "private.h"

typedef struct
{
  GstBaseSink parent;
  SrtGoHandle h;
  SrtGoSinkRing *ring;          /* h's */
} GstSrtGoSink;

typedef struct
{
  GstBaseSinkClass parent_class;
} GstSrtGoSinkClass;

#define SELF(o) ((GstSrtGoSink *) (o))

G_DEFINE_TYPE_WITH_CODE (GstSrtGoSink, gst_srt_go_sink, GST_TYPE_BASE_SINK,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, srtgo_uri_handler_init_sink));

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink",
    GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

SrtGoHandle
srtgo_sink_handle (gpointer element)
{
  return SELF (element)->h;
}

#define LOAD(p) __atomic_load_n (&(p), __ATOMIC_SEQ_CST)

SrtGoPorter *
srtgo_porter (void)
{
  static SrtGoPorter porter;

  return &porter;
}

/* Puts a packet into the ring; FALSE: Go must be called. */
static gboolean
put (GstSrtGoSink * self, const SrtGoSegment * s)
{
  SrtGoSinkRing *r = self->ring;
  uint32_t filled = r->head - LOAD (r->tail);
  SrtGoOutgoing *o;

  if (s->len > LOAD (r->open) || filled >= SRTGO_SINK_SLOTS)
    return FALSE;
  if (!filled)
    __atomic_store_n (&r->base, r->head, __ATOMIC_SEQ_CST);
  o = &r->slot[(r->head - r->base) % SRTGO_SINK_SLOTS];
  memcpy (o->data, s->data, s->len);
  o->len = s->len;
  o->at = srtgo_monotonic ();
  __atomic_store_n (&r->head, r->head + 1, __ATOMIC_SEQ_CST);
  return TRUE;
}

/* Something was put: the porter comes by and by. */
static void
call_porter (void)
{
  SrtGoPorter *p = srtgo_porter ();
  struct itimerspec spec = { {0} };

  if (!LOAD (p->unset) || !__atomic_exchange_n (&p->unset, 0, __ATOMIC_SEQ_CST))
    return;
  spec.it_value.tv_nsec = LOAD (p->round_ns);
  if (timerfd_settime (p->fd, 0, &spec, NULL) < 0)
    GST_WARNING ("cannot set the porter's timer");
}

/* Buffers mapped for one call. */
typedef struct
{
  guint n;
  GstBuffer *buffer[SRTGO_WRITE_BATCH];
  GstMapInfo map[SRTGO_WRITE_BATCH];
  SrtGoSegment segment[SRTGO_WRITE_BATCH];
} Batch;

static gboolean
batch_add (Batch * batch, GstBuffer * buffer)
{
  guint i = batch->n;

  if (!gst_buffer_map (buffer, &batch->map[i], GST_MAP_READ))
    return FALSE;
  if (!batch->map[i].size) {    /* SRT has no empty messages */
    gst_buffer_unmap (buffer, &batch->map[i]);
    return TRUE;
  }
  batch->buffer[i] = buffer;
  batch->segment[i].data = batch->map[i].data;
  batch->segment[i].len = batch->map[i].size;
  batch->n++;
  return TRUE;
}

static void
batch_clear (Batch * batch)
{
  guint i;

  for (i = 0; i < batch->n; i++)
    gst_buffer_unmap (batch->buffer[i], &batch->map[i]);
  batch->n = 0;
}

static GstFlowReturn
unreadable (GstSrtGoSink * self)
{
  GST_ELEMENT_ERROR (self, RESOURCE, READ, (NULL),
      ("cannot map the input buffer for reading"));
  return GST_FLOW_ERROR;
}

/* Called with the preroll lock, which unlock_stop waits for. A pause ends a
 * blocked Write; what it had not taken is offered again after the pause. */
static GstFlowReturn
send (GstSrtGoSink * self, SrtGoSegment * segments, guint n)
{
  guint first = n;

  while (n > 0 && put (self, segments))
    segments++, n--;
  if (n < first)
    call_porter ();
  while (n > 0) {
    int taken = 0;
    int result = srtgoWrite (self->h, segments, n, &taken);

    if (result == SRTGO_OK)
      return GST_FLOW_OK;
    if (result != SRTGO_FLUSHING)
      return GST_FLOW_ERROR;
    GstFlowReturn flow = gst_base_sink_wait_preroll (GST_BASE_SINK (self));
    if (flow != GST_FLOW_OK)
      return flow;
    segments += taken;
    n -= taken;
  }
  return GST_FLOW_OK;
}

static GstFlowReturn
render (GstBaseSink * sink, GstBuffer * buffer)
{
  GstFlowReturn flow;
  Batch batch;

  batch.n = 0;
  if (!batch_add (&batch, buffer))
    return unreadable (SELF (sink));
  flow = send (SELF (sink), batch.segment, batch.n);
  batch_clear (&batch);
  return flow;
}

static GstFlowReturn
render_list (GstBaseSink * sink, GstBufferList * list)
{
  GstSrtGoSink *self = SELF (sink);
  guint i, n = gst_buffer_list_length (list);
  GstFlowReturn flow = GST_FLOW_OK;
  Batch batch;

  batch.n = 0;
  for (i = 0; i < n && flow == GST_FLOW_OK; i++) {
    if (!batch_add (&batch, gst_buffer_list_get (list, i))) {
      flow = unreadable (self);
      break;
    }
    if (batch.n == SRTGO_WRITE_BATCH || i == n - 1) {
      flow = send (self, batch.segment, batch.n);
      batch_clear (&batch);
    }
  }
  batch_clear (&batch);
  return flow;
}

/* The stream's headers, sent first to everyone who connects. */
static gboolean
set_headers (GstSrtGoSink * self, const GValue * const *values, guint n)
{
  SrtGoSegment *segment = g_new0 (SrtGoSegment, n + 1);
  GstMapInfo *map = g_new0 (GstMapInfo, n + 1);
  guint i, mapped;
  gboolean ok = TRUE;

  for (mapped = 0; mapped < n && ok; mapped++) {
    GstBuffer *b = gst_value_get_buffer (values[mapped]);

    ok = b && gst_buffer_map (b, &map[mapped], GST_MAP_READ);
    if (!ok)
      break;
    segment[mapped].data = map[mapped].data;
    segment[mapped].len = map[mapped].size;
  }
  if (ok)
    ok = srtgoSetHeaders (self->h, segment, n) == SRTGO_OK;
  for (i = 0; i < mapped; i++)
    gst_buffer_unmap (gst_value_get_buffer (values[i]), &map[i]);
  g_free (segment);
  g_free (map);
  return ok;
}

static gboolean
set_caps (GstBaseSink * sink, GstCaps * caps)
{
  const GValue *v = gst_structure_get_value (gst_caps_get_structure (caps, 0),
      "streamheader");
  const GValue **values;
  guint i, n = 1;
  gboolean ok = TRUE;

  if (!v)
    return set_headers (SELF (sink), NULL, 0);
  if (GST_VALUE_HOLDS_BUFFER (v))
    return set_headers (SELF (sink), &v, 1);
  if (!GST_VALUE_HOLDS_ARRAY (v)) {
    GST_ERROR_OBJECT (sink, "streamheader is of type %s", G_VALUE_TYPE_NAME (v));
    return FALSE;
  }
  n = gst_value_array_get_size (v);
  values = g_new0 (const GValue *, n + 1);
  for (i = 0; i < n && ok; i++) {
    values[i] = gst_value_array_get_value (v, i);
    ok = GST_VALUE_HOLDS_BUFFER (values[i]);
    if (!ok)
      GST_ERROR_OBJECT (sink, "streamheader has an item of type %s",
          G_VALUE_TYPE_NAME (values[i]));
  }
  ok = ok && set_headers (SELF (sink), values, n);
  g_free (values);
  return ok;
}

/* Serialized events come with the preroll lock, as buffers do: whoever changes
 * the state unlocks the wait first and takes the lock then, and so cannot come in
 * between. */
static GstFlowReturn
drain (GstBaseSink * sink)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && srtgoDrain (SELF (sink)->h) == SRTGO_FLUSHING)
    flow = gst_base_sink_wait_preroll (sink);
  return flow;
}

static gboolean
event (GstBaseSink * sink, GstEvent * e)
{
  /* The base class would wait for a flush that has been already. */
  if (GST_EVENT_TYPE (e) == GST_EVENT_EOS && drain (sink) != GST_FLOW_OK) {
    gst_event_unref (e);
    return FALSE;
  }
  return GST_BASE_SINK_CLASS (gst_srt_go_sink_parent_class)->event (sink, e);
}

static gboolean
start (GstBaseSink * sink)
{
  SrtGoSinkRing *r = SELF (sink)->ring;

  if (!r)                       /* Go could not make its side */
    return FALSE;
  r->head = r->tail = r->base = 0;
  return srtgoStart (SELF (sink)->h) == SRTGO_OK;
}

static gboolean
stop (GstBaseSink * sink)
{
  srtgoStop (SELF (sink)->h);
  return TRUE;
}

static gboolean
unlock (GstBaseSink * sink)
{
  srtgoUnlock (SELF (sink)->h);
  return TRUE;
}

static gboolean
unlock_stop (GstBaseSink * sink)
{
  srtgoUnlockStop (SELF (sink)->h);
  return TRUE;
}

static void
finalize (GObject * object)
{
  srtgoFree (SELF (object)->h);
  G_OBJECT_CLASS (gst_srt_go_sink_parent_class)->finalize (object);
}

static void
gst_srt_go_sink_init (GstSrtGoSink * self)
{
  self->h = srtgoNew (GST_ELEMENT (self), SRTGO_SINK);
  self->ring = srtgoSinkRing (self->h);
}

static void
gst_srt_go_sink_class_init (GstSrtGoSinkClass * klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS (klass);
  GstBaseSinkClass *base = GST_BASE_SINK_CLASS (klass);

  srtgo_class_init (G_OBJECT_CLASS (klass), SRTGO_SINK);
  G_OBJECT_CLASS (klass)->finalize = finalize;
  base->start = start;
  base->stop = stop;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->render = render;
  base->render_list = render_list;
  base->set_caps = set_caps;
  base->event = event;
  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_set_static_metadata (element, "SRT sink (Go)",
      "Sink/Network", "Send data over the network via SRT",
      "the weirline authors");
}
