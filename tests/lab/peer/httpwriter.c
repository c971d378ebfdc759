// One local writer as ffmpeg's http output is one. What that does was read off
// with strace from ffmpeg 5.1 (-re, CBR 5 Mbit/s video of 25 frames/s, AAC
// 128 kbit/s, -f mpegts http://...): the muxer flushes after each PES packet, so
// a video frame is one chunk (16 to 28 kB) every 40 ms, and about every 160 ms
// 3 kB of audio follow as a chunk of their own, 1 to 5 ms from a frame; the
// output's buffer, and so a chunk, is at most 32 kB. A chunk takes three pairs
// of poll and send (size, data, line end) on a non-blocking socket; no socket
// option is set, so Nagle is on.
//   httpwriter --port P --path /srt://host:port?... --stream I --streams N --mbps M --secs S --fps F
// --fps 0 makes a chunk of each message, on ticks of 1 ms: no writer known does
// that, but it is the hardest a reader can meet.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tsmsg.h"

static const char *host = "127.0.0.1", *path = "/";
static int port = 9710, stream = 0, streams = 1;
static double mbps = 5, secs = 10, fps = 25;

static void fail(const char* w) {
    printf("{\"role\":\"write\",\"error\":\"%s: %s\"}\n", w, strerror(errno));
    fflush(stdout);
    _exit(2);
}
static void await_room(int fd) {
    struct pollfd p = { fd, POLLOUT, 0 };
    while (poll(&p, 1, 100) <= 0) {}
}
static void put(int fd, const void* b, size_t n) {
    const char* p = b;
    while (n) {
        await_room(fd);
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EAGAIN) continue;
        if (k < 0) fail("send");
        p += k; n -= (size_t)k;
    }
}

// The output's buffer holds so many messages.
#define CHUNK_MSGS (32768 / MSG_LEN)
static unsigned char buf[CHUNK_MSGS * MSG_LEN];
static uint64_t seq = 0;

// chunks sends the messages up to due, each stamped when it is built.
static void chunks(int fd, uint64_t due) {
    while (seq < due) {
        char size[16];
        int n = 0;
        for (; n < CHUNK_MSGS && seq < due; n++, seq++) ts_build(buf + n * MSG_LEN, (uint32_t)stream, seq, now_ns());
        put(fd, size, (size_t)snprintf(size, sizeof size, "%x\r\n", n * MSG_LEN));
        put(fd, buf, (size_t)n * MSG_LEN);
        put(fd, "\r\n", 2);
    }
}

static uint64_t per, late = 0;
static double pps;

static uint64_t due_at(double elapsed) {
    uint64_t due = elapsed >= secs ? per : (uint64_t)(elapsed * pps + (double)stream / streams);
    return due < per ? due : per;
}
// wait_until counts what is late instead of making up for it.
static void wait_until(uint64_t at) {
    if (at <= now_ns()) { late++; return; }
    struct timespec ts = { (time_t)(at / 1000000000ull), (long)(at % 1000000000ull) };
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

// Two messages are as much as audio makes in the time of four frames.
#define AUDIO_MSGS 2
#define AUDIO_FRAMES 4
#define AUDIO_BEFORE 2000000

// frames writes a chunk a frame; the writers' frames are spread over its time.
static void frames(int fd, uint64_t t0) {
    for (uint64_t k = 1;; k++) {
        double at = ((double)k + (double)stream / streams - 1) / fps;
        if (at > secs) at = secs;
        uint64_t when = t0 + (uint64_t)(at * 1e9);
        if (k % AUDIO_FRAMES == 0) {
            wait_until(when - AUDIO_BEFORE);
            uint64_t due = due_at(at);
            chunks(fd, due < seq + AUDIO_MSGS ? due : seq + AUDIO_MSGS);
        }
        wait_until(when);
        chunks(fd, due_at(at));
        if (at >= secs) return;
    }
}

static void messages(int fd, uint64_t t0) {
    for (uint64_t tick = t0;;) {
        double el = (double)(now_ns() - t0) / 1e9;
        chunks(fd, due_at(el));
        if (el >= secs) return;
        tick += 1000000;
        uint64_t t = now_ns();
        if (tick <= t) { late++; tick = t; continue; }
        wait_until(tick);
    }
}

int main(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *a = argv[i], *v = argv[i + 1];
        if (!strcmp(a, "--host")) host = v; else if (!strcmp(a, "--port")) port = atoi(v);
        else if (!strcmp(a, "--path")) path = v; else if (!strcmp(a, "--stream")) stream = atoi(v);
        else if (!strcmp(a, "--streams")) streams = atoi(v); else if (!strcmp(a, "--mbps")) mbps = atof(v);
        else if (!strcmp(a, "--secs")) secs = atof(v); else if (!strcmp(a, "--fps")) fps = atof(v);
        else { fprintf(stderr, "unknown option %s\n", a); return 64; }
    }
    pool_init();
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in sa = {0};
    sa.sin_family = AF_INET; sa.sin_port = htons(port); inet_pton(AF_INET, host, &sa.sin_addr);
    if (connect(fd, (struct sockaddr*)&sa, sizeof sa)) fail("connect");
    fcntl(fd, F_SETFL, O_NONBLOCK);
    char head[1024];
    int n = snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nTransfer-Encoding: chunked\r\nUser-Agent: httpwriter\r\n\r\n", path, host, port);
    put(fd, head, (size_t)n);
    struct timespec settle = { 0, 500000000 };
    nanosleep(&settle, NULL); // SRT connects meanwhile

    pps = mbps * 1e6 / 8 / MSG_LEN;
    per = (uint64_t)(pps * secs);
    uint64_t t0 = now_ns();
    struct usage u0 = usage_now();
    if (fps > 0) frames(fd, t0); else messages(fd, t0);
    struct usage u1 = usage_now();
    put(fd, "0\r\n\r\n", 5);
    fcntl(fd, F_SETFL, 0);
    char reply[512] = {0};
    ssize_t k = recv(fd, reply, sizeof reply - 1, 0);
    int ok = k > 12 && !strncmp(reply + 9, "200", 3);
    long hwm = 0, thr = 0;
    proc_status(&hwm, &thr);
    printf("{\"role\":\"write\",\"sent_msgs\":%llu,\"late_ticks\":%llu,\"status_ok\":%d,\"run_cpu_s\":%.3f,\"peak_rss_kb\":%ld,\"peak_threads\":%ld}\n",
           (unsigned long long)seq, (unsigned long long)late, ok, u1.user + u1.sys - u0.user - u0.sys, hwm, thr);
    return ok ? 0 : 1;
}
