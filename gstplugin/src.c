/* srtgosrc: a live source of one buffer a packet. The streaming thread takes them
 * from a ring that Go fills. */
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <gst/base/gstpushsrc.h>
#include "_cgo_export.h"
#include "private.h"

typedef struct
{
  GstPushSrc parent;
  SrtGoHandle h;
  SrtGoSourceRing *ring;        /* h's */
  /* Streaming thread only, but for stop. */
  GstMemory *memory[SRTGO_SOURCE_SLOTS];        /* mapped, in the ring */
  GstMapInfo map[SRTGO_SOURCE_SLOTS];
  guint depth;                  /* slots that have memory */
  guint fresh;                  /* packets for which shift is still true */
  GstClockTimeDiff shift;       /* running time minus CLOCK_MONOTONIC */
  gboolean discont;
  /* Set from other threads: shift belongs to before a pause. */
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

/* First slots of a ring, and the most. */
enum { LEAST_DEPTH = 16, MOST_DEPTH = SRTGO_SOURCE_SLOTS };

#define LOAD(p) __atomic_load_n (&(p), __ATOMIC_SEQ_CST)
#define STORE(p, v) __atomic_store_n (&(p), v, __ATOMIC_SEQ_CST)

/* The memory of a slot, filled or not. */
static GstMemory *
take_slot (GstSrtGoSrc * self, guint i)
{
  GstMemory *m = self->memory[i];

  self->memory[i] = NULL;
  gst_memory_unmap (m, &self->map[i]);
  return m;
}

/* Nobody else uses the ring. */
static void
drop_all (GstSrtGoSrc * self)
{
  guint i;

  for (i = 0; i < SRTGO_SOURCE_SLOTS; i++) {
    if (self->memory[i])
      gst_memory_unref (take_slot (self, i));
  }
  if (self->ring)
    self->ring->head = self->ring->tail = self->ring->limit = 0;
}

/* Gives depth slots memory. */
static gboolean
fill_slots (GstSrtGoSrc * self)
{
  SrtGoSourceRing *r = self->ring;

  while (r->limit - r->tail < self->depth) {
    guint i = r->limit % SRTGO_SOURCE_SLOTS;
    GstMemory *m = gst_allocator_alloc (NULL, SRTGO_MAX_MESSAGE, NULL);

    if (!m)
      return FALSE;
    if (!gst_memory_map (m, &self->map[i], GST_MAP_WRITE)) {
      gst_memory_unref (m);
      return FALSE;
    }
    self->memory[i] = m;
    r->slot[i].data = self->map[i].data;
    STORE (r->limit, r->limit + 1);
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

/* Running time by CLOCK_MONOTONIC. */
static gboolean
read_shift (GstSrtGoSrc * self)
{
  GstClock *clock;
  GstClockTime base;
  int64_t monotonic = 0;

  GST_OBJECT_LOCK (self);
  base = GST_ELEMENT_CAST (self)->base_time;
  clock = GST_ELEMENT_CLOCK (self);
  if (clock)
    gst_object_ref (clock);
  GST_OBJECT_UNLOCK (self);
  if (!clock)
    return FALSE;
  self->shift = GST_CLOCK_DIFF (base, read_clocks (clock, &monotonic));
  self->shift -= monotonic;
  gst_object_unref (clock);
  return TRUE;
}

/* Waits for a packet. Bell is read before all that it is rung for. */
static GstFlowReturn
wait_filled (GstSrtGoSrc * self)
{
  SrtGoSourceRing *r = self->ring;

  for (;;) {
    uint32_t bell = LOAD (r->bell);
    gboolean open = LOAD (r->open);
    int result;

    if (LOAD (r->head) != r->tail)
      return GST_FLOW_OK;
    if (open) {
      STORE (r->waiting, 1);
      syscall (SYS_futex, &r->bell, FUTEX_WAIT_PRIVATE, bell, NULL, NULL, 0);
      STORE (r->waiting, 0);
      continue;
    }
    result = srtgoRead (self->h);
    if (result == SRTGO_EOS)
      return GST_FLOW_EOS;
    if (result == SRTGO_FLUSHING)
      return GST_FLOW_FLUSHING;
    if (result != SRTGO_OK)
      return GST_FLOW_ERROR;
  }
}

static GstFlowReturn
receive (GstSrtGoSrc * self)
{
  SrtGoSourceRing *r = self->ring;
  GstFlowReturn flow;

  /* Filled to the brim: more might have come at once. */
  if (r->limit != 0 && r->tail == r->limit)
    self->depth = MIN (2 * self->depth, MOST_DEPTH);
  if (!fill_slots (self)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, (NULL),
        ("no memory for received packets"));
    return GST_FLOW_ERROR;
  }
  flow = wait_filled (self);
  if (flow == GST_FLOW_OK)
    self->fresh = 0;
  return flow;
}

/* A packet's time stamp is its play time on the pipeline's clock, as with the
 * stock element: the sender's time and the connection's latency. */
static GstFlowReturn
create (GstPushSrc * src, GstBuffer ** buffer)
{
  GstSrtGoSrc *self = SELF (src);
  SrtGoSourceRing *r = self->ring;
  SrtGoPacket *p;
  GstMemory *m;
  GstBuffer *b;

  if (g_atomic_int_compare_and_exchange (&self->stale, 1, 0))
    self->fresh = 0;
  if (r->tail == LOAD (r->head)) {
    GstFlowReturn flow = receive (self);

    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (self->fresh == 0) {
    if (!read_shift (self))
      return GST_FLOW_FLUSHING;
    self->fresh = LEAST_DEPTH;
  }
  self->fresh--;
  p = &r->slot[r->tail % SRTGO_SOURCE_SLOTS];
  m = take_slot (self, r->tail % SRTGO_SOURCE_SLOTS);
  gst_memory_resize (m, 0, p->len);
  b = gst_buffer_new ();
  gst_buffer_append_memory (b, m);
  GST_BUFFER_PTS (b) = MAX (p->play + self->shift, 0);
  if (p->discont || self->discont)
    GST_BUFFER_FLAG_SET (b, GST_BUFFER_FLAG_DISCONT);
  self->discont = FALSE;
  STORE (r->tail, r->tail + 1);
  *buffer = b;
  return GST_FLOW_OK;
}

static gboolean
start (GstBaseSrc * src)
{
  GstSrtGoSrc *self = SELF (src);

  if (!self->ring)              /* Go could not make its side */
    return FALSE;
  self->discont = TRUE;
  self->depth = LEAST_DEPTH;
  self->fresh = 0;
  return srtgoStart (SELF (src)->h) == SRTGO_OK;
}

static gboolean
stop (GstBaseSrc * src)
{
  srtgoStop (SELF (src)->h);
  drop_all (SELF (src));
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
  srtgoStop (SELF (object)->h);
  drop_all (SELF (object));
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
  self->ring = srtgoSourceRing (self->h);
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
