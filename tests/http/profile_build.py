"""Writes profiles (XSpace, proto/xplane.proto) by hand, event by event, without a protobuf library.

    profile = Profile()
    line = profile.host.line(timestamp_ns=5)
    profile.host.event(line, "MemoryAllocation", offset_ps=10, addr=1, tf_op="MatMul", fragmentation=0.5)
    profile.bytes()

Stats are written by the type of their value: int as int64, float as double, str as a string, bytes as bytes; and
Unsigned(3) as uint64, Ref("MatMul") as a reference to the plane's stat metadata, as the profiler writes names.
"""
import struct


class Unsigned(int):
    """A stat of type uint64."""


class Ref(str):
    """A stat that refers to a name in the stat metadata."""


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, value):
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def named(field, names):
    """A map from ids to messages {id, name}."""
    entries = ((i, number(1, i) + text(2, name)) for name, i in names.items())
    return b"".join(text(field, number(1, i) + text(2, message)) for i, message in entries)


class Line:
    def __init__(self, number_, name, timestamp_ns):
        self.number, self.name, self.timestamp_ns, self.events = number_, name, timestamp_ns, []

    def bytes(self):
        head = number(1, self.number) + text(2, self.name) + number(3, self.timestamp_ns)
        return head + b"".join(text(4, event) for event in self.events)


class Plane:
    def __init__(self, name):
        self.name, self.lines, self.event_names, self.stat_names, self.stats = name, [], {}, {}, {}

    def line(self, name="", timestamp_ns=0):
        self.lines.append(Line(len(self.lines) + 1, name, timestamp_ns))
        return self.lines[-1]

    def stat_id(self, name):
        return self.stat_names.setdefault(str(name), len(self.stat_names) + 1)

    def stat(self, name, value):
        key = number(1, self.stat_id(name))
        if isinstance(value, float):
            return key + double(2, value)
        if isinstance(value, int):
            return key + number(3 if isinstance(value, Unsigned) else 4, value)
        if isinstance(value, Ref):
            return key + number(7, self.stat_id(value))
        return key + text(5 if isinstance(value, str) else 6, value)

    def event(self, line, name, offset_ps, duration_ps=0, **stats):
        event_id = self.event_names.setdefault(name, len(self.event_names) + 1)
        fields = [number(1, event_id), number(2, offset_ps), number(3, duration_ps)]
        line.events.append(b"".join(fields + [text(4, self.stat(k, v)) for k, v in stats.items()]))

    def bytes(self):
        lines = b"".join(text(3, line.bytes()) for line in self.lines)
        stats = b"".join(text(6, self.stat(name, value)) for name, value in self.stats.items())
        return text(2, self.name) + lines + named(4, self.event_names) + named(5, self.stat_names) + stats


class Profile:
    """A file; `host` is its plane /host:CPU, which is there unless has_host is False."""

    def __init__(self, has_host=True):
        self.planes = []
        self.host = self.plane("/host:CPU") if has_host else None

    def plane(self, name):
        self.planes.append(Plane(name))
        return self.planes[-1]

    def bytes(self):
        return b"".join(text(1, plane.bytes()) for plane in self.planes)
