"""A GStreamer application that does what it is told.

Reads one command a line as JSON on standard input and writes answers and events
as JSON lines on standard output. The element under test is named "srt".
"""
import json
import os
import sys
import threading
import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gio, GLib, GObject, Gst  # noqa: E402

Gst.init(None)
out = threading.Lock()
pipelines = {}
epoch = time.monotonic()


def say(**kw):
    kw["at"] = round((time.monotonic() - epoch) * 1000, 3)
    with out:
        sys.stdout.write(json.dumps(kw) + "\n")
        sys.stdout.flush()


def address(a):
    if not isinstance(a, Gio.InetSocketAddress):
        return repr(a)
    return "%s:%d" % (a.get_address().to_string(), a.get_port())


def value(v):
    """A GStructure field or property as JSON."""
    if isinstance(v, Gst.Structure):
        return structure(v)
    if isinstance(v, Gio.SocketAddress):
        return address(v)
    if isinstance(v, GObject.ValueArray):
        return [value(v.get_nth(i)) for i in range(v.n_values)]
    if isinstance(v, (list, tuple)):
        return [value(x) for x in v]
    if isinstance(v, GObject.GEnum):
        return v.value_nick
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    return repr(v)


def structure(s):
    if s is None:
        return None
    fields, types = {}, []
    for i in range(s.n_fields()):
        name = s.nth_field_name(i)
        fields[name] = value(s.get_value(name))
        types.append([name, s.get_field_type(name).name])
    return {"name": s.get_name(), "fields": fields, "types": types}


class Pipeline:
    def __init__(self, name, line, veto):
        self.name, self.veto = name, veto
        self.pipe = Gst.parse_launch(line)
        if not isinstance(self.pipe, Gst.Pipeline):
            bin_ = Gst.Pipeline.new(None)
            bin_.add(self.pipe)
            self.pipe = bin_
        self.srt = self.pipe.get_by_name("srt")
        self.gone = False
        if self.srt is not None:
            for s in ("caller-added", "caller-removed"):
                self.srt.connect(s, self.caller, s)
            self.srt.connect("caller-rejected", self.rejected)
            self.srt.connect("caller-connecting", self.connecting)
        self.watch = threading.Thread(target=self.messages, daemon=True)
        self.watch.start()

    def caller(self, _, number, addr, name):
        say(ev="signal", pipe=self.name, signal=name, number=number, addr=address(addr))

    def rejected(self, _, addr, streamid):
        say(ev="signal", pipe=self.name, signal="caller-rejected", addr=address(addr), streamid=streamid)

    def connecting(self, element, addr, streamid):
        # What a signal handler does is its own business; reading statistics and
        # properties must work in it.
        element.get_property("stats")
        say(ev="signal", pipe=self.name, signal="caller-connecting", addr=address(addr), streamid=streamid)
        return streamid not in self.veto

    def messages(self):
        bus = self.pipe.get_bus()
        while not self.gone:
            m = bus.timed_pop(50 * Gst.MSECOND)
            if m is not None:
                self.message(m)

    def message(self, m):
        kw = dict(ev="message", pipe=self.name, type=m.type.first_value_nick, src=m.src.get_name() if m.src else "")
        if m.type in (Gst.MessageType.ERROR, Gst.MessageType.WARNING):
            error = m.type == Gst.MessageType.ERROR
            e, debug = m.parse_error() if error else m.parse_warning()
            details = m.parse_error_details() if error else m.parse_warning_details()
            kw.update(text=e.message, domain=e.domain, code=e.code, debug=debug, details=structure(details))
        elif m.type == Gst.MessageType.ELEMENT:
            kw.update(structure=structure(m.get_structure()))
        elif m.type == Gst.MessageType.STATE_CHANGED:
            if m.src != self.pipe:
                return
            kw.update(state=m.parse_state_changed()[1].value_nick)
        elif m.type not in (Gst.MessageType.EOS, Gst.MessageType.LATENCY, Gst.MessageType.ASYNC_DONE):
            return
        say(**kw)


def state(p, to, wait=0):
    began = time.monotonic()
    ret = p.pipe.set_state(getattr(Gst.State, to))
    took = time.monotonic() - began
    now = None
    if wait:
        now = p.pipe.get_state(int(wait * Gst.MSECOND))[1].value_nick
    return dict(ret=ret.value_nick, ms=took * 1000, state=now)


def latency(p):
    q = Gst.Query.new_latency()
    ok = p.srt.query(q) if isinstance(p.srt, Gst.Element) else False
    live, low, high = q.parse_latency()
    return dict(ok=ok, live=live, min=low / Gst.MSECOND, max=high / Gst.MSECOND if high != Gst.CLOCK_TIME_NONE else -1)


def position(p):
    """What the application sees of the element's statistics, types included."""
    return structure(p.srt.get_property("stats"))


def counts():
    return dict(threads=len(os.listdir("/proc/self/task")), fds=len(os.listdir("/proc/self/fd")))


def handle(c):
    do, p = c["do"], pipelines.get(c.get("pipe"))
    if do == "launch":
        pipelines[c["pipe"]] = Pipeline(c["pipe"], c["line"], c.get("veto", []))
        return {}
    if do == "state":
        return state(p, c["to"], c.get("wait", 0))
    if do == "set":
        p.srt.set_property(c["prop"], c["value"])
        return {}
    if do == "get":
        return dict(value=value(p.srt.get_property(c["prop"])))
    if do == "stats":
        return dict(stats=position(p))
    if do == "latency":
        return latency(p)
    if do == "eos":
        return dict(ok=p.pipe.send_event(Gst.Event.new_eos()))
    if do == "rendered":
        return dict(number=p.pipe.get_by_name(c["element"]).get_property("stats").get_value("rendered"))
    if do == "flush":
        e = p.pipe.get_by_name(c["element"]).get_static_pad("sink")
        return dict(ok=e.send_event(Gst.Event.new_flush_start()) and e.send_event(Gst.Event.new_flush_stop(True)))
    if do == "seturi":
        try:
            return dict(ok=p.srt.set_uri(c["value"]))
        except GLib.Error as e:
            return dict(ok=False, text=e.message, domain=e.domain, code=e.code)
    if do == "counts":
        return counts()
    if do == "free":
        p.pipe.set_state(Gst.State.NULL)
        p.gone = True
        p.watch.join()
        del pipelines[c["pipe"]]
        return {}
    raise ValueError("unknown command " + do)


def answer(c):
    try:
        say(ev="answer", id=c["id"], **handle(c))
    except Exception as e:  # the test decides what a failure means
        say(ev="answer", id=c["id"], failed="%s: %s" % (type(e).__name__, e))


say(ev="ready")
for line in sys.stdin:
    c = json.loads(line)
    if c.get("aside"):
        threading.Thread(target=answer, args=(c,), daemon=True).start()
    else:
        answer(c)
for p in list(pipelines.values()):
    p.pipe.set_state(Gst.State.NULL)
