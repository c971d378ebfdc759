#!/usr/bin/python3
"""A listening srtgosink that decides about its callers and shows who they are.

    python3 examples/gst-python/callers.py :7001 cam1 cam2
    gst-launch-1.0 srtgosrc uri="srt://127.0.0.1:7001?streamid=cam1" ! fakesink

Callers whose stream id is not among the names given are refused. Every second
the statistics of each caller are printed. Ends on an interrupt, or after the
number of seconds in $SECONDS_TO_RUN. Needs python3-gi and gir1.2-gstreamer-1.0.
"""
import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gio, GLib, Gst  # noqa: E402


def text(address):
    return f"{address.get_address().to_string()}:{address.get_port()}"


def connecting(sink, address, stream_id, allowed):
    """Called in a thread of the element's; False refuses the caller."""
    return not allowed or stream_id in allowed


def show(sink):
    stats = sink.get_property("stats")
    total = stats.get_value("bytes-sent-total")
    print(f"{total} bytes sent to all callers", flush=True)
    # Without callers the field is not there.
    for caller in stats.get_value("callers") or []:
        print(f"  {text(caller.get_value('caller-address'))} "
              f"rtt {caller.get_value('rtt-ms'):.2f} ms, "
              f"{caller.get_value('packets-sent-lost')} packets lost", flush=True)
    return True


def message(bus, m, loop):
    if m.type in (Gst.MessageType.ERROR, Gst.MessageType.WARNING):
        error, _ = m.parse_error() if m.type == Gst.MessageType.ERROR else m.parse_warning()
        details = m.parse_error_details() if m.type == Gst.MessageType.ERROR else m.parse_warning_details()
        print(error.message, details.to_string() if details else "", flush=True)
    if m.type in (Gst.MessageType.ERROR, Gst.MessageType.EOS):
        loop.quit()


def main():
    where, allowed = sys.argv[1], sys.argv[2:]
    Gst.init(None)
    pipeline = Gst.parse_launch(
        "audiotestsrc is-live=true ! audio/x-raw,rate=48000 ! rtpL16pay mtu=1316 ! srtgosink name=sink")
    sink = pipeline.get_by_name("sink")
    sink.set_property("uri", f"srt://{where}?mode=listener")
    sink.set_property("wait-for-connection", False)
    sink.set_property("authentication", True)
    sink.connect("caller-connecting", connecting, allowed)
    sink.connect("caller-added", lambda s, n, a: print("added", text(a), flush=True))
    sink.connect("caller-removed", lambda s, n, a: print("removed", text(a), flush=True))
    sink.connect("caller-rejected", lambda s, a, sid: print("rejected", text(a), sid, flush=True))

    loop = GLib.MainLoop()
    bus = pipeline.get_bus()
    bus.add_signal_watch()
    bus.connect("message", message, loop)
    GLib.timeout_add_seconds(1, show, sink)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGINT, loop.quit)
    if os.environ.get("SECONDS_TO_RUN"):
        GLib.timeout_add_seconds(int(os.environ["SECONDS_TO_RUN"]), loop.quit)
    pipeline.set_state(Gst.State.PLAYING)
    loop.run()
    pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
