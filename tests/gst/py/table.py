"""Prints properties, signals, pads, protocols and rank of elements as JSON."""
import ctypes
import json
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst  # noqa: E402

Gst.init(None)


def plain(v):
    if isinstance(v, (GObject.GEnum, GObject.GFlags)):
        return int(v)
    if v is None or isinstance(v, (bool, int, float, str)):
        return v
    return type(v).__name__


class Value:
    def __init__(self, value, nick):
        self.value, self.nick = value, nick


def raw_values(p):
    # The Python enum class merges members of equal value; the type itself has
    # them all.
    lib = ctypes.CDLL("libgobject-2.0.so.0")

    class EnumValue(ctypes.Structure):
        _fields_ = [("value", ctypes.c_int), ("name", ctypes.c_char_p), ("nick", ctypes.c_char_p)]

    class EnumClass(ctypes.Structure):
        _fields_ = [("g_class", ctypes.c_size_t), ("minimum", ctypes.c_int), ("maximum", ctypes.c_int),
                    ("n_values", ctypes.c_uint), ("values", ctypes.POINTER(EnumValue))]

    lib.g_type_class_ref.restype = ctypes.c_void_p
    lib.g_type_class_ref.argtypes = [ctypes.c_size_t]
    lib.g_type_from_name.restype = ctypes.c_size_t
    lib.g_type_from_name.argtypes = [ctypes.c_char_p]
    cls = ctypes.cast(lib.g_type_class_ref(lib.g_type_from_name(p.value_type.name.encode())), ctypes.POINTER(EnumClass)).contents
    return [Value(cls.values[i].value, cls.values[i].nick.decode()) for i in range(cls.n_values)]


def prop(e, p):
    d = {"type": p.value_type.name, "flags": flags(p), "default": plain(p.default_value), "doc": p.blurb or ""}
    for bound in ("minimum", "maximum"):
        if hasattr(p, bound):
            d[bound] = plain(getattr(p, bound))
    if p.value_type.is_a(GObject.GEnum):
        d["values"] = ", ".join("%d=%s" % (v.value, v.nick) for v in raw_values(p))
    if p.flags & GObject.ParamFlags.READABLE:
        v = e.get_property(p.name)
        d["initial"] = plain(v) if p.name not in ("name", "parent") else ""
    return d


def flags(p):
    names = []
    for bit, name in ((0, "readable"), (1, "writable"), (2, "construct"), (3, "construct-only"), (9, "controllable"),
                      (10, "mutable-ready"), (11, "mutable-paused"), (12, "mutable-playing"), (31, "deprecated")):
        if int(p.flags) & (1 << bit):
            names.append(name)
    return " ".join(names)


def signals(e):
    out = {}
    for name in GObject.signal_list_names(e.__gtype__):
        q = GObject.signal_query(name, e.__gtype__)
        out[name] = "%s (%s) flags %d" % (q.return_type.name if q.return_type else "void",
                                          ", ".join(t.name for t in q.param_types), int(q.signal_flags))
    return out


def element(name):
    f = Gst.ElementFactory.find(name)
    e = f.create(None)
    pads = ["%s %s %s %s" % (t.name_template, t.direction.value_nick, t.presence.value_nick, t.get_caps().to_string())
            for t in f.get_static_pad_templates()]
    parents, t = [], e.__gtype__.parent
    while t.name != "GObject":
        parents.append(t.name)
        t = t.parent
    return {
        "properties": {p.name: prop(e, p) for p in e.list_properties()},
        "signals": signals(e),
        "element": {
            "pads": "; ".join(pads),
            "parents": " ".join(parents),
            "uri-type": f.get_uri_type().value_nick,
            "uri-protocols": " ".join(f.get_uri_protocols()),
            "klass": f.get_metadata("klass"),
            "rank": f.get_rank(),
        },
    }


print(json.dumps({name: element(name) for name in sys.argv[1:]}))
