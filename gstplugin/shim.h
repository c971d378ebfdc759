/* What the C side of the elements and the Go side know of each other. */
#ifndef WEIRLINE_GSTPLUGIN_SHIM_H
#define WEIRLINE_GSTPLUGIN_SHIM_H

#include <stdint.h>
#include <stdlib.h>
#include <gst/gst.h>

/* An element's Go side: a handle, 0 if there is none. */
typedef uintptr_t SrtGoHandle;

enum { SRTGO_SOURCE = 1, SRTGO_SINK = 2 };

/* Kinds of properties and of statistics. */
enum {
  SRTGO_STRING = 1,
  SRTGO_INT,
  SRTGO_UINT,
  SRTGO_INT64,
  SRTGO_UINT64,
  SRTGO_BOOL,
  SRTGO_ENUM,
  SRTGO_DOUBLE,
  SRTGO_CALLER, /* in statistics: what follows is of one more caller */
};

enum {
  SRTGO_READABLE = 1,
  SRTGO_WRITABLE = 2,
  SRTGO_MUTABLE_READY = 4,
  SRTGO_MUTABLE_PLAYING = 8,
};

/* What Read, Write and Drain return. */
enum {
  SRTGO_OK = 0,
  SRTGO_EOS = -1,
  SRTGO_FLUSHING = -2,
  SRTGO_FAILED = -3,
};

/* What setting the URI returns. */
enum { SRTGO_URI_OK = 0, SRTGO_URI_BAD, SRTGO_URI_BUSY };

/* One property. It lives as long as the process. */
typedef struct {
  char *name, *blurb;
  int kind, flags, sides;
  int64_t min, max, def;
  char *def_string;       /* NULL: none */
  char *enum_type;        /* kind SRTGO_ENUM: name of the GType */
  GEnumValue *enum_values; /* ends with zeros */
} SrtGoSpec;

/* The streaming threads and Go's goroutines meet at rings, so that the threads do
 * not call into Go for packets: a thread that comes and goes keeps Go's scheduler
 * awake, and one that waits inside Go is woken through a second thread.
 *
 * A ring is open while nothing but packets is to be told; closed, the thread calls
 * Go, which does the rest and opens it again. head and tail count packets: the
 * slot of one is the rest by the number of slots. All of this is atomic. */
enum { SRTGO_SOURCE_SLOTS = 256, SRTGO_SINK_SLOTS = 64 };

/* The longest message: a datagram of 1500 bytes holds less. */
enum { SRTGO_MAX_MESSAGE = 1500 };

/* A received packet: memory to fill, and what was filled in. */
typedef struct {
  uint8_t *data;
  int32_t len;
  int32_t discont;
  int64_t play; /* play time, CLOCK_MONOTONIC, ns */
} SrtGoPacket;

typedef struct {
  /* Written by Go. bell counts the reasons to look again. */
  uint32_t head, open, bell;
  /* Written by the thread: slots before limit have memory. */
  uint32_t tail __attribute__ ((aligned (64)));
  uint32_t limit, waiting;
  SrtGoPacket slot[SRTGO_SOURCE_SLOTS];
} SrtGoSourceRing;

/* A packet to be sent, copied. */
typedef struct {
  int64_t at; /* when it came, CLOCK_MONOTONIC, ns */
  uint32_t len;
  uint8_t data[SRTGO_MAX_MESSAGE];
} SrtGoOutgoing;

typedef struct {
  /* Written by Go. open is the longest packet taken; 0: closed. */
  uint32_t tail, open;
  /* Written by the thread. base is the number of the packet in the first slot:
   * an empty ring begins anew, in slots that are still in the cache. */
  uint32_t head __attribute__ ((aligned (64)));
  uint32_t base;
  SrtGoOutgoing slot[SRTGO_SINK_SLOTS];
} SrtGoSinkRing;

/* The goroutine that empties all sinks' rings. */
typedef struct {
  uint32_t unset;    /* the timer is: who puts a packet sets it */
  uint32_t round_ns; /* to what */
  int fd;            /* of the timer */
} SrtGoPorter;

/* Memory to send. */
typedef struct {
  const uint8_t *data;
  size_t len;
} SrtGoSegment;

/* One statistic. Of SRTGO_CALLER, name is the address and i the port. */
typedef struct {
  const char *name;
  int kind;
  int64_t i;
  double d;
} SrtGoField;

/* Packets of one call. */
enum { SRTGO_WRITE_BATCH = 64 };

/* class.c: for Go. */
gboolean srtgo_register (GstPlugin * plugin, const SrtGoSpec * specs, guint n);
int64_t srtgo_monotonic (void);
uintptr_t srtgo_thread (void);

/* sink.c: for Go. */
SrtGoPorter *srtgo_porter (void);

/* bus.c: for Go. */
void srtgo_post (GstElement * element, gboolean error, int code,
    const char *text, const char *debug, const char *reason, int reason_code);
void srtgo_post_connection_removed (GstElement * element);
void srtgo_post_latency (GstElement * element);
gboolean srtgo_has_bus (GstElement * element);
void srtgo_warn_unbound (GstElement * element, const char *text);
void srtgo_emit_caller (GstElement * element, const char *signal,
    const char *host, int port);
void srtgo_emit_rejected (GstElement * element, const char *host, int port,
    const char *stream_id);
gboolean srtgo_emit_connecting (GstElement * element, const char *host,
    int port, const char *stream_id);

#endif
