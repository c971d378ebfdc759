"""Starts and stops pipelines in one process and counts what remains.

    churn.py SRC SINK PORT KIND CYCLES
"""
import json
import os
import sys
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

Gst.init(None)
src, sink, port, kind, cycles = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
FEED = "fakesrc sync=true is-live=true format=time sizetype=fixed sizemax=1316 datarate=%d"
listener = "srt://:%d?mode=listener" % port
caller = "srt://127.0.0.1:%d" % port
slowest = 0.0


def count():
    return dict(threads=len(os.listdir("/proc/self/task")), fds=len(os.listdir("/proc/self/fd")), rss=rss())


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def null(p):
    global slowest
    began = time.monotonic()
    p.set_state(Gst.State.NULL)
    slowest = max(slowest, time.monotonic() - began)


def pair(rate):
    recv = Gst.parse_launch("%s uri=%s ! fakesink name=f sync=false async=false" % (src, listener))
    send = Gst.parse_launch((FEED + " ! %s sync=false uri=%s") % (rate, sink, caller))
    return recv, send


def startstop(n):
    """The same two pipelines, started and stopped."""
    recv, send = pair(131600)
    for i in range(n):
        recv.set_state(Gst.State.PLAYING)
        send.set_state(Gst.State.PLAYING)
        time.sleep((i % 4) * 0.005)
        null(send if i % 2 else recv)
        null(recv if i % 2 else send)


def connecting(n):
    """NULL while nobody answers."""
    for i in range(n):
        p = Gst.parse_launch((FEED + " ! %s uri=%s") % (131600, sink, caller) if i % 2 else "%s uri=%s ! fakesink async=false" % (src, caller))
        p.set_state(Gst.State.PLAYING)
        time.sleep((0, 0.01)[i // 2 % 2])
        null(p)


def received(recv):
    return recv.get_by_name("f").get_property("stats").get_value("rendered")


def recreate(n):
    """New pipelines under load: 20 Mbit/s flow when they are torn down."""
    for i in range(n):
        recv, send = pair(2500000)
        recv.set_state(Gst.State.PLAYING)
        send.set_state(Gst.State.PLAYING)
        end = time.monotonic() + 5
        while received(recv) < 100 and time.monotonic() < end:
            time.sleep(0.01)
        if received(recv) < 100:
            sys.exit("round %d: nothing flows" % i)
        null(send if i % 2 else recv)
        null(recv if i % 2 else send)


work = dict(startstop=startstop, connecting=connecting, recreate=recreate)[kind]
recreate(1)  # what is made once, the last of it when data flows, is there now
work(10)
time.sleep(0.3)
before = count()
work(cycles)
time.sleep(1)
print(json.dumps(dict(before=before, after=count(), slowest_ms=slowest * 1000)))
