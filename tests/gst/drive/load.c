/* The load of the GStreamer tests: one process, many pipelines.
 *
 *   load send FACTORY HOST PORT N MBPS SECS LIST [PROP=VALUE ...]   appsrc ! FACTORY, N times
 *   load recv FACTORY HOST PORT N SECS [PROP=VALUE ...]             FACTORY ! fakesink, N times
 *   load idle SOURCE SINK N PORT                                    N of each without a peer: threads
 *   load stamp FACTORY URI COUNT RATE                               COUNT time-stamped packets
 *   load clock FACTORY URI SECS                                     what PTS they get, one line a buffer
 *
 * The load comes in ticks of 5 ms, in buffers that share one block of memory, so
 * that what is measured is the elements. Each appsrc asks for it (need-data), and
 * so its thread makes it: were it pushed by another, that one and the pipeline's
 * would take turns at every buffer if the sink is quick, at every tenth if the sink
 * is slow and the CPUs are busy, and the load itself cost the quick one more.
 * The measured part begins when all connections carry data. Results are one line
 * of JSON; send and recv count their CPU time from then on. */
#define _GNU_SOURCE
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>
#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 1316, MOST = 1024, TICK_US = 5000, BURST = 100 };

static GstElement *pipes[MOST], *sources[MOST];
static atomic_ullong bytes[MOST];
static char payload[MESSAGE];

static double now_s(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec + ts.tv_nsec / 1e9;
}

static double cpu_s(void) {
    struct rusage ru;
    getrusage(RUSAGE_SELF, &ru);
    return ru.ru_utime.tv_sec + ru.ru_stime.tv_sec + (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e6;
}

static int entries(const char *dir) {
    DIR *d = opendir(dir);
    int n = 0;
    if (d == NULL) return -1;
    while (readdir(d) != NULL) n++;
    closedir(d);
    return n - 2;
}

static int threads(void) { return entries("/proc/self/task"); }

static void sleep_until(double at) {
    double left = at - now_s();
    if (left > 0) usleep((useconds_t)(left * 1e6));
}

static void fail(const char *what, const char *which) {
    fprintf(stderr, "load: %s: %s\n", what, which);
    exit(2);
}

/* A warning or an error of a pipeline is told; the test decides. */
static GstBusSyncReply on_message(GstBus *bus, GstMessage *m, gpointer user) {
    (void)bus, (void)user;
    GError *e = NULL;
    gchar *debug = NULL;
    if (GST_MESSAGE_TYPE(m) == GST_MESSAGE_ERROR) gst_message_parse_error(m, &e, &debug);
    if (GST_MESSAGE_TYPE(m) == GST_MESSAGE_WARNING) gst_message_parse_warning(m, &e, &debug);
    if (e != NULL) fprintf(stderr, "%s: %s (%s)\n", GST_OBJECT_NAME(m->src), e->message, debug ? debug : "");
    g_clear_error(&e);
    g_free(debug);
    return GST_BUS_DROP;
}

static GstElement *make(const char *factory) {
    GstElement *e = gst_element_factory_make(factory, NULL);
    if (e == NULL) fail("no such element", factory);
    return e;
}

static void set_all(GstElement *e, char **props, int n) {
    for (int i = 0; i < n; i++) {
        char *eq = strchr(props[i], '=');
        if (eq == NULL) fail("not PROP=VALUE", props[i]);
        *eq = 0;
        gst_util_set_object_arg(G_OBJECT(e), props[i], eq + 1);
        *eq = '=';
    }
}

/* join makes pipeline i of two elements; a NULL property is not set. */
static void join(int i, GstElement *from, GstElement *to) {
    GstBus *bus;
    pipes[i] = gst_pipeline_new(NULL);
    bus = gst_pipeline_get_bus(GST_PIPELINE(pipes[i]));
    gst_bus_set_sync_handler(bus, on_message, NULL, NULL);
    gst_object_unref(bus);
    gst_bin_add_many(GST_BIN(pipes[i]), from, to, NULL);
    if (!gst_element_link(from, to)) fail("cannot link", GST_ELEMENT_NAME(to));
    sources[i] = from;
}

static GstElement *feeder(void) {
    GstElement *e = make("appsrc");
    g_object_set(e, "is-live", TRUE, "format", GST_FORMAT_TIME, "do-timestamp", TRUE, "max-bytes", (guint64)0, "block", FALSE, NULL);
    return e;
}

static gboolean has(GstElement *e, const char *property) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(e), property) != NULL;
}

static void set_uri(GstElement *e, const char *host, int port, gboolean listen) {
    gchar *uri = listen ? g_strdup_printf("srt://%s:%d?mode=listener", host, port) : g_strdup_printf("srt://%s:%d", host, port);
    if (has(e, "uri")) g_object_set(e, "uri", uri, NULL);
    g_free(uri);
}

static void play(int n) {
    for (int i = 0; i < n; i++)
        if (gst_element_set_state(pipes[i], GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail("cannot play", GST_ELEMENT_NAME(sources[i]));
}

static void stop(int n) {
    for (int i = 0; i < n; i++) {
        gst_element_set_state(pipes[i], GST_STATE_NULL);
        gst_object_unref(pipes[i]);
    }
}

static guint64 total(int n) {
    guint64 sum = 0;
    for (int i = 0; i < n; i++) sum += atomic_load(&bytes[i]);
    return sum;
}

static GstBuffer *packet(void) {
    return gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, payload, MESSAGE, 0, MESSAGE, NULL, NULL);
}

/* What pipeline i of run_send sends. */
static struct {
    double began, rate; /* packets a second */
    gboolean lists;
    atomic_bool over;
    guint64 sent[MOST];
} load;

/* feed is asked for data by appsrc's thread: it waits for a tick at which something
 * is due. A sink that held the thread for long makes a pause, not a burst. */
static void feed(GstAppSrc *src, guint length, gpointer user) {
    int i = GPOINTER_TO_INT(user), count = 0;
    (void)length;
    while (count == 0) {
        guint64 tick = (now_s() - load.began) * 1e6 / TICK_US + 1, due = tick * TICK_US / 1e6 * load.rate;
        sleep_until(load.began + tick * (TICK_US / 1e6));
        if (atomic_load(&load.over)) return;
        count = MIN(due - load.sent[i], BURST);
        load.sent[i] = due;
    }
    atomic_fetch_add(&bytes[i], (unsigned long long)count * MESSAGE);
    if (load.lists) {
        GstBufferList *l = gst_buffer_list_new_sized(count);
        for (int k = 0; k < count; k++) gst_buffer_list_add(l, packet());
        gst_app_src_push_buffer_list(src, l);
        return;
    }
    for (int k = 0; k < count; k++) gst_app_src_push_buffer(src, packet());
}

static int run_send(int argc, char **argv) {
    if (argc < 9) fail("usage", "send FACTORY HOST PORT N MBPS SECS LIST [PROP=VALUE ...]");
    GstAppSrcCallbacks callbacks = { .need_data = feed };
    int port = atoi(argv[4]), n = atoi(argv[5]), most = 0;
    double secs = atof(argv[7]), warm = 3, cpu, measured;
    guint64 before;
    for (int i = 0; i < n; i++) {
        GstElement *sink = make(argv[2]), *src = feeder();
        g_object_set(sink, "sync", FALSE, NULL);
        set_uri(sink, argv[3], port + i, FALSE);
        set_all(sink, argv + 9, argc - 9);
        gst_app_src_set_callbacks(GST_APP_SRC(src), &callbacks, GINT_TO_POINTER(i), NULL);
        join(i, src, sink);
    }
    load.rate = atof(argv[6]) * 1e6 / 8 / MESSAGE;
    load.lists = atoi(argv[8]);
    load.began = now_s();
    play(n);
    sleep_until(load.began + warm);
    measured = now_s(), cpu = cpu_s(), before = total(n);
    // What GStreamer's thread pool had at the start is gone by now.
    while (now_s() < load.began + warm + secs) {
        usleep(200000);
        most = MAX(most, threads());
    }
    cpu = cpu_s() - cpu;
    measured = now_s() - measured;
    printf("{\"cpu\":%.3f,\"secs\":%.3f,\"bytes\":%" G_GUINT64_FORMAT ",\"threads\":%d}\n", cpu, measured, total(n) - before, most);
    fflush(stdout);
    atomic_store(&load.over, TRUE);
    usleep(500000);
    stop(n);
    return 0;
}

static GstPadProbeReturn count_buffers(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
    (void)pad;
    gsize size = 0;
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER_LIST)
        size = gst_buffer_list_calculate_size(GST_PAD_PROBE_INFO_BUFFER_LIST(info));
    else
        size = gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
    atomic_fetch_add((atomic_ullong *)user, size);
    return GST_PAD_PROBE_OK;
}

static GstElement *counter(int i) {
    GstElement *sink = make("fakesink");
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    g_object_set(sink, "sync", FALSE, "async", FALSE, "enable-last-sample", FALSE, NULL);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST, count_buffers, &bytes[i], NULL);
    gst_object_unref(pad);
    return sink;
}

static gboolean all_flow(int n) {
    for (int i = 0; i < n; i++)
        if (atomic_load(&bytes[i]) == 0) return FALSE;
    return TRUE;
}

static int run_recv(int argc, char **argv) {
    if (argc < 7) fail("usage", "recv FACTORY HOST PORT N SECS [PROP=VALUE ...]");
    int port = atoi(argv[4]), n = atoi(argv[5]), most = 0;
    double secs = atof(argv[6]), until = now_s() + 15, began, cpu;
    guint64 before;
    for (int i = 0; i < n; i++) {
        GstElement *src = make(argv[2]);
        set_uri(src, argv[3], port + i, TRUE);
        set_all(src, argv + 7, argc - 7);
        join(i, src, counter(i));
    }
    play(n);
    fprintf(stderr, "ready\n");
    while (!all_flow(n) && now_s() < until) usleep(20000);
    if (!all_flow(n)) fail("no data on some of the sources", argv[2]);
    usleep(1500000);
    began = now_s(), cpu = cpu_s(), before = total(n);
    while (now_s() < began + secs) {
        usleep(200000);
        most = MAX(most, threads());
    }
    cpu = cpu_s() - cpu;
    printf("{\"cpu\":%.3f,\"secs\":%.3f,\"bytes\":%" G_GUINT64_FORMAT ",\"threads\":%d}\n", cpu, now_s() - began, total(n) - before, most);
    fflush(stdout);
    // The sender began to measure later, and is to have receivers to its end.
    usleep(3000000);
    stop(n);
    return 0;
}

/* run_idle counts threads of N listening sinks and N listening sources that
 * nobody calls; fakesink and fakesrc in their place give what the pipelines
 * themselves take. */
static int run_idle(int argc, char **argv) {
    if (argc < 6) fail("usage", "idle SOURCE SINK N PORT");
    int n = atoi(argv[4]), port = atoi(argv[5]), before = threads(), most = 0;
    for (int i = 0; i < n; i++) {
        GstElement *sink = make(argv[3]), *src = make(argv[2]);
        set_uri(sink, "127.0.0.1", port + 2 * i, TRUE);
        set_uri(src, "127.0.0.1", port + 2 * i + 1, TRUE);
        if (!has(src, "uri")) g_object_set(src, "is-live", TRUE, "sync", TRUE, "format", GST_FORMAT_TIME, "sizetype", 2, "sizemax", 188, "datarate", 1880, NULL);
        g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
        join(2 * i, feeder(), sink);
        join(2 * i + 1, src, counter(2 * i + 1));
    }
    play(2 * n);
    for (int k = 0; k < 20; k++) {
        usleep(50000);
        most = MAX(most, threads());
    }
    printf("{\"before\":%d,\"threads\":%d,\"fds\":%d}\n", before, most, entries("/proc/self/fd"));
    fflush(stdout);
    stop(2 * n);
    return 0;
}

/* A stamped packet: its number, the instant it was handed in, and the instant at
 * which the sink was done with the one before, no later than that: a thread that had
 * to wait for a processor inside the sink shows so. */
struct stamp { guint64 seq, at_ns, before_done_ns; };

static guint64 done_ns;

static guint64 monotonic_ns(void) {
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (guint64)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static GstPadProbeReturn write_stamp(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
    static guint64 seq;
    GstMapInfo map;
    GstBuffer *b = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
    (void)pad, (void)user;
    if (gst_buffer_map(b, &map, GST_MAP_WRITE)) {
        struct stamp s = { seq++, monotonic_ns(), done_ns };
        done_ns = 0;
        memcpy(map.data, &s, sizeof s);
        gst_buffer_unmap(b, &map);
    }
    info->data = b;
    return GST_PAD_PROBE_OK;
}

/* appsrc's thread has come back from the sink. */
static void came_back(GstAppSrc *src, guint length, gpointer user) {
    (void)src, (void)length, (void)user;
    if (done_ns == 0) done_ns = monotonic_ns();
}

/* run_stamp stamps each packet in the streaming thread, right before the sink
 * takes it: what is then measured is the element, not the wait for a thread. */
static int run_stamp(int argc, char **argv) {
    if (argc < 6) fail("usage", "stamp FACTORY URI COUNT RATE");
    int count = atoi(argv[4]);
    double rate = atof(argv[5]), began;
    GstElement *sink = make(argv[2]), *src = feeder();
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    GstAppSrcCallbacks callbacks = { .need_data = came_back };
    gst_app_src_set_callbacks(GST_APP_SRC(src), &callbacks, NULL, NULL);
    g_object_set(sink, "uri", argv[3], "sync", FALSE, NULL);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, write_stamp, NULL, NULL);
    gst_object_unref(pad);
    join(0, src, sink);
    play(1);
    began = now_s() + 0.5;
    for (int i = 0; i < count; i++) {
        sleep_until(began + i / rate);
        gst_app_src_push_buffer(GST_APP_SRC(src), gst_buffer_new_allocate(NULL, MESSAGE, NULL));
    }
    sleep_until(now_s() + 1);
    stop(1);
    return 0;
}

static GstPadProbeReturn read_stamp(GstPad *pad, GstPadProbeInfo *info, gpointer user) {
    GstElement *sink = user;
    GstBuffer *b = GST_PAD_PROBE_INFO_BUFFER(info);
    struct stamp s = { 0, 0, 0 };
    guint64 arrived = monotonic_ns();
    (void)pad;
    gst_buffer_extract(b, 0, &s, sizeof s);
    printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT " %d\n", s.seq, s.at_ns, s.before_done_ns,
           GST_BUFFER_PTS_IS_VALID(b) ? (gint64)(GST_BUFFER_PTS(b) + gst_element_get_base_time(sink)) : (gint64)-1, arrived,
           GST_BUFFER_FLAG_IS_SET(b, GST_BUFFER_FLAG_DISCONT) ? 1 : 0);
    return GST_PAD_PROBE_OK;
}

static int run_clock(int argc, char **argv) {
    if (argc < 5) fail("usage", "clock FACTORY URI SECS");
    GstElement *src = make(argv[2]), *sink = make("fakesink");
    GstClock *clock = gst_system_clock_obtain();
    GstPad *pad = gst_element_get_static_pad(sink, "sink");
    g_object_set(clock, "clock-type", GST_CLOCK_TYPE_MONOTONIC, NULL);
    g_object_set(src, "uri", argv[3], NULL);
    g_object_set(sink, "sync", FALSE, "async", FALSE, NULL);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, read_stamp, sink, NULL);
    gst_object_unref(pad);
    join(0, src, sink);
    gst_pipeline_use_clock(GST_PIPELINE(pipes[0]), clock);
    play(1);
    fprintf(stderr, "ready\n");
    sleep_until(now_s() + atof(argv[4]));
    stop(1);
    gst_object_unref(clock);
    return 0;
}

int main(int argc, char **argv) {
    gst_init(NULL, NULL);
    if (argc > 1 && !strcmp(argv[1], "send")) return run_send(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "recv")) return run_recv(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "idle")) return run_idle(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "stamp")) return run_stamp(argc, argv);
    if (argc > 1 && !strcmp(argv[1], "clock")) return run_clock(argc, argv);
    fail("usage", "load send|recv|idle|stamp|clock ...");
    return 2;
}
