/* srtgosrc: a live source of one buffer a packet. Go fills a batch of buffers in
 * one call; the others wait in the element until they are asked for. */
#include <gst/base/gstpushsrc.h>
#include "_cgo_export.h"
#include "private.h"

typedef struct
{
  GstPushSrc parent;
  SrtGoHandle h;
  /* Streaming thread only, but for stop. */
  GstBuffer *slot[SRTGO_READ_BATCH];    /* mapped memory to be filled next */
  GstMapInfo map[SRTGO_READ_BATCH];
  SrtGoPacket packet[SRTGO_READ_BATCH];
  GstBuffer *ready[SRTGO_READ_BATCH];
  guint next, count;
  gboolean discont;
  /* Set from other threads: what is ready belongs to before a pause. */
  gint stale;
} GstSrtGoSrc;

typedef struct
{
  GstPushSrcClass parent_class;
} GstSrtGoSrcClass;

#define SELF(o) ((GstSrtGoSrc *) (o))

G_DEFINE_TYPE_WITH_CODE (GstSrtGoSrc, gst_srt_go_src, GST_TYPE_PUSH_SRC,
    G_IMPLEMENT_INTERFACE (GST_TYPE_URI_HANDLER, srtgo_uri_handler_init_source));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src",
    GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

SrtGoHandle
srtgo_src_handle (gpointer element)
{
  return SELF (element)->h;
}

static void
drop_ready (GstSrtGoSrc * self)
{
  while (self->next < self->count)
    gst_buffer_unref (self->ready[self->next++]);
  self->next = self->count = 0;
}

static void
drop_slots (GstSrtGoSrc * self)
{
  guint i;

  for (i = 0; i < SRTGO_READ_BATCH; i++) {
    if (!self->slot[i])
      continue;
    gst_buffer_unmap (self->slot[i], &self->map[i]);
    gst_clear_buffer (&self->slot[i]);
  }
}

static gboolean
fill_slots (GstSrtGoSrc * self)
{
  guint i;

  for (i = 0; i < SRTGO_READ_BATCH; i++) {
    GstBuffer *b;

    if (self->slot[i])
      continue;
    b = gst_buffer_new_allocate (NULL, SRTGO_MAX_MESSAGE, NULL);
    if (!b)
      return FALSE;
    if (!gst_buffer_map (b, &self->map[i], GST_MAP_WRITE)) {
      gst_buffer_unref (b);
      return FALSE;
    }
    self->slot[i] = b;
    self->packet[i].data = self->map[i].data;
    self->packet[i].cap = SRTGO_MAX_MESSAGE;
  }
  return TRUE;
}

/* Two clocks read as one: a thread that is put to sleep between them would shift
 * every time stamp of the batch, so that pair counts which was read fastest. */
static GstClockTime
read_clocks (GstClock * clock, int64_t * monotonic)
{
  GstClockTime best = 0;
  int64_t least = G_MAXINT64;
  int try;

  for (try = 0; try < 4 && least > 5000; try++) {
    int64_t before = srtgo_monotonic ();
    GstClockTime t = gst_clock_get_time (clock);
    int64_t took = srtgo_monotonic () - before;

    if (took < least) {
      least = took;
      best = t;
      *monotonic = before + took / 2;
    }
  }
  return best;
}

/* A packet's time stamp is its sender's time, on the pipeline's clock. */
static gboolean
running_time (GstSrtGoSrc * self, GstClockTimeDiff * now, int64_t * monotonic)
{
  GstClock *clock;
  GstClockTime base;

  GST_OBJECT_LOCK (self);
  base = GST_ELEMENT_CAST (self)->base_time;
  clock = GST_ELEMENT_CLOCK (self);
  if (clock)
    gst_object_ref (clock);
  GST_OBJECT_UNLOCK (self);
  if (!clock)
    return FALSE;
  *now = GST_CLOCK_DIFF (base, read_clocks (clock, monotonic));
  gst_object_unref (clock);
  return TRUE;
}

static void
take_ready (GstSrtGoSrc * self, guint n, GstClockTimeDiff now,
    int64_t monotonic)
{
  guint i;

  for (i = 0; i < n; i++) {
    SrtGoPacket *p = &self->packet[i];
    GstBuffer *b = self->slot[i];
    GstClockTimeDiff pts = now;

    self->slot[i] = NULL;
    gst_buffer_unmap (b, &self->map[i]);
    gst_buffer_set_size (b, p->len);
    if (p->source)
      pts -= monotonic - p->source;
    GST_BUFFER_PTS (b) = MAX (pts, 0);
    if (p->discont || self->discont)
      GST_BUFFER_FLAG_SET (b, GST_BUFFER_FLAG_DISCONT);
    self->discont = FALSE;
    self->ready[i] = b;
  }
  self->next = 0;
  self->count = n;
}

static GstFlowReturn
receive (GstSrtGoSrc * self)
{
  GstClockTimeDiff now;
  int64_t monotonic = 0;
  int n;

  if (!fill_slots (self)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, (NULL),
        ("no memory for received packets"));
    return GST_FLOW_ERROR;
  }
  n = srtgoRead (self->h, self->packet, SRTGO_READ_BATCH);
  if (n == SRTGO_EOS)
    return GST_FLOW_EOS;
  if (n == SRTGO_FLUSHING)
    return GST_FLOW_FLUSHING;
  if (n <= 0)
    return GST_FLOW_ERROR;
  if (!running_time (self, &now, &monotonic))
    return GST_FLOW_FLUSHING;
  take_ready (self, n, now, monotonic);
  return GST_FLOW_OK;
}

static GstFlowReturn
create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstSrtGoSrc *self = SELF (src);

  if (g_atomic_int_compare_and_exchange (&self->stale, 1, 0)
      && self->next < self->count) {
    drop_ready (self);
    self->discont = TRUE;
  }
  if (self->next >= self->count) {
    GstFlowReturn flow = receive (self);

    if (flow != GST_FLOW_OK)
      return flow;
  }
  *buffer = self->ready[self->next++];
  return GST_FLOW_OK;
}

static gboolean
start (GstBaseSrc * src)
{
  SELF (src)->discont = TRUE;
  return srtgoStart (SELF (src)->h) == SRTGO_OK;
}

static gboolean
stop (GstBaseSrc * src)
{
  srtgoStop (SELF (src)->h);
  drop_ready (SELF (src));
  drop_slots (SELF (src));
  return TRUE;
}

static gboolean
unlock (GstBaseSrc * src)
{
  srtgoUnlock (SELF (src)->h);
  return TRUE;
}

static gboolean
unlock_stop (GstBaseSrc * src)
{
  g_atomic_int_set (&SELF (src)->stale, 1);
  srtgoUnlockStop (SELF (src)->h);
  return TRUE;
}

static gboolean
query (GstBaseSrc * src, GstQuery * q)
{
  int64_t latency = 0;

  if (GST_QUERY_TYPE (q) != GST_QUERY_LATENCY)
    return GST_BASE_SRC_CLASS (gst_srt_go_src_parent_class)->query (src, q);
  if (srtgoLatency (SELF (src)->h, &latency) != SRTGO_OK)
    return FALSE;
  gst_query_set_latency (q, TRUE, latency, latency);
  return TRUE;
}

static void
finalize (GObject * object)
{
  drop_ready (SELF (object));
  drop_slots (SELF (object));
  srtgoFree (SELF (object)->h);
  G_OBJECT_CLASS (gst_srt_go_src_parent_class)->finalize (object);
}

static void
gst_srt_go_src_init (GstSrtGoSrc * self)
{
  GstBaseSrc *base = GST_BASE_SRC (self);

  gst_base_src_set_live (base, TRUE);
  gst_base_src_set_format (base, GST_FORMAT_TIME);
  gst_base_src_set_do_timestamp (base, FALSE);
  self->h = srtgoNew (GST_ELEMENT (self), SRTGO_SOURCE);
}

static void
gst_srt_go_src_class_init (GstSrtGoSrcClass * klass)
{
  GstElementClass *element = GST_ELEMENT_CLASS (klass);
  GstBaseSrcClass *base = GST_BASE_SRC_CLASS (klass);

  srtgo_class_init (G_OBJECT_CLASS (klass), SRTGO_SOURCE);
  G_OBJECT_CLASS (klass)->finalize = finalize;
  base->start = start;
  base->stop = stop;
  base->unlock = unlock;
  base->unlock_stop = unlock_stop;
  base->query = query;
  GST_PUSH_SRC_CLASS (klass)->create = create;
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "SRT source (Go)",
      "Source/Network", "Receive data over the network via SRT",
      "the weirline authors");
}
