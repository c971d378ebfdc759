// One local writer as ffmpeg's http output is one: a POST with chunked body over
// TCP, each chunk in three writes (size, data, line end), Nagle left on.
//   httpwriter --port P --path /srt://host:port?... --stream I --streams N --mbps M --secs S
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include "tsmsg.h"

static const char *host = "127.0.0.1", *path = "/";
static int port = 9710, stream = 0, streams = 1;
static double mbps = 5, secs = 10;

static void fail(const char* w) {
    printf("{\"role\":\"write\",\"error\":\"%s: %s\"}\n", w, strerror(errno));
    fflush(stdout);
    _exit(2);
}
static void put(int fd, const void* b, size_t n) {
    const char* p = b;
    while (n) {
        ssize_t k = send(fd, p, n, MSG_NOSIGNAL);
        if (k < 0) fail("send");
        p += k; n -= (size_t)k;
    }
}

int main(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *a = argv[i], *v = argv[i + 1];
        if (!strcmp(a, "--host")) host = v; else if (!strcmp(a, "--port")) port = atoi(v);
        else if (!strcmp(a, "--path")) path = v; else if (!strcmp(a, "--stream")) stream = atoi(v);
        else if (!strcmp(a, "--streams")) streams = atoi(v); else if (!strcmp(a, "--mbps")) mbps = atof(v);
        else if (!strcmp(a, "--secs")) secs = atof(v);
        else { fprintf(stderr, "unknown option %s\n", a); return 64; }
    }
    pool_init();
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in sa = {0};
    sa.sin_family = AF_INET; sa.sin_port = htons(port); inet_pton(AF_INET, host, &sa.sin_addr);
    if (connect(fd, (struct sockaddr*)&sa, sizeof sa)) fail("connect");
    char head[1024];
    int n = snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: %s:%d\r\nTransfer-Encoding: chunked\r\nUser-Agent: httpwriter\r\n\r\n", path, host, port);
    put(fd, head, (size_t)n);
    struct timespec settle = { 0, 500000000 };
    nanosleep(&settle, NULL); // SRT connects meanwhile

    unsigned char m[MSG_LEN];
    char size[16];
    int size_len = snprintf(size, sizeof size, "%x\r\n", MSG_LEN);
    double pps = mbps * 1e6 / 8 / MSG_LEN;
    uint64_t per = (uint64_t)(pps * secs), seq = 0, late = 0, t0 = now_ns(), tick = t0;
    struct usage u0 = usage_now();
    for (;;) {
        double el = (double)(now_ns() - t0) / 1e9;
        int done = el >= secs;
        uint64_t due = done ? per : (uint64_t)(el * pps + (double)stream / streams);
        if (due > per) due = per;
        for (; seq < due; seq++) {
            ts_build(m, (uint32_t)stream, seq, now_ns());
            put(fd, size, (size_t)size_len);
            put(fd, m, MSG_LEN);
            put(fd, "\r\n", 2);
        }
        if (done) break;
        tick += 1000000;
        uint64_t t = now_ns();
        if (tick <= t) { late++; tick = t; continue; }
        struct timespec ts = { (time_t)(tick / 1000000000ull), (long)(tick % 1000000000ull) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
    }
    struct usage u1 = usage_now();
    put(fd, "0\r\n\r\n", 5);
    char reply[512] = {0};
    ssize_t k = recv(fd, reply, sizeof reply - 1, 0);
    int ok = k > 12 && !strncmp(reply + 9, "200", 3);
    long hwm = 0, thr = 0;
    proc_status(&hwm, &thr);
    printf("{\"role\":\"write\",\"sent_msgs\":%llu,\"late_ticks\":%llu,\"status_ok\":%d,\"run_cpu_s\":%.3f,\"peak_rss_kb\":%ld,\"peak_threads\":%ld}\n",
           (unsigned long long)seq, (unsigned long long)late, ok, u1.user + u1.sys - u0.user - u0.sys, hwm, thr);
    return ok ? 0 : 1;
}
