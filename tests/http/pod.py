"""Sessions of many hosts, made of the fixtures' real profiles, with one host or several changed.

    with folder(pod("pod", xplane("v5e_matmul"), hosts=256)) as root: ...
    files = pod("pod", data, hosts=256, changed={17: holds_more(data, "MatMul", 2 << 30)})
    python3 tests/http/pod.py FOLDER HOSTS      # sessions "programs", "memory" and "devices", for the page's tests

holds_more gives a host one more allocation, in the middle of its real events, that is never freed: what its allocator
tells after it is that much more.
"""
import gzip
import pathlib
import sys

from log_folders import age, xplane
from profile_build import number, text, varint
from server_fixture import FIXTURES

HOST, PLANE, LINE, EVENT, STAT = "host-{:03}", 1, 3, 4, 4


def host_name(index):
    return HOST.format(index)


def pod(session, data, hosts=256, changed=()):
    """{"session/host-000.xplane.pb": bytes}; `changed` has the hosts that have other bytes, by number."""
    changed = dict(changed)
    return {f"{session}/{host_name(i)}.xplane.pb": changed.get(i, data) for i in range(hosts)}


# --- Messages as lists of (field, wire type, value), in their order ---

def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = read_varint(data, at)
        else:
            size, at = read_varint(data, at) if kind == 2 else (8 if kind == 1 else 4, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, kind, value


def message(parts):
    out = bytearray()
    for field, kind, value in parts:
        out += varint(field << 3 | kind)
        out += varint(value) if kind == 0 else varint(len(value)) + value if kind == 2 else value
    return bytes(out)


def field_of(data, wanted, otherwise=0):
    return next((value for field, _, value in fields(data) if field == wanted), otherwise)


def changed_fields(data, wanted, change):
    """The message with change(value) in the place of each such field; None leaves it out."""
    parts = ((field, kind, change(value) if field == wanted else value) for field, kind, value in fields(data))
    return message(part for part in parts if part[2] is not None)


# --- One more allocation ---

def names(plane, field):
    """{name: id} of the plane's event (4) or stat (5) metadata."""
    entries = [field_of(entry, 2, b"") for at, _, entry in fields(plane) if at == field]
    return {field_of(entry, 2, b"").decode(): field_of(entry, 1) for entry in entries}


class Plane:
    def __init__(self, data):
        self.data, self.events, self.stats = data, names(data, 4), names(data, 5)

    def number_of(self, event, name):
        """An integer stat of the event; None when it has none."""
        wanted = self.stats.get(name)
        for field, _, stat in fields(event):
            if field == STAT and field_of(stat, 1) == wanted:
                return next((value for at, _, value in fields(stat) if at in (3, 4)), None)
        return None

    def text_of(self, event, name):
        wanted = self.stats.get(name)
        by_id = {value: key for key, value in self.stats.items()}
        for field, _, stat in fields(event):
            if field == STAT and field_of(stat, 1) == wanted:
                return by_id[field_of(stat, 7)] if field_of(stat, 7) else field_of(stat, 5, b"").decode()
        return ""

    def with_numbers(self, event, values):
        """The event with other integer stats: {name: value}."""
        wanted = {self.stats[name]: value for name, value in values.items() if name in self.stats}

        def change(stat):
            key = field_of(stat, 1)
            if key not in wanted:
                return stat
            return message((field, kind, wanted[key] if field in (3, 4) else value)
                           for field, kind, value in fields(stat))

        return changed_fields(event, STAT, change)

    def memory_events(self):
        kinds = {self.events.get("MemoryAllocation"), self.events.get("MemoryDeallocation")}
        for field, _, line in fields(self.data):
            if field == LINE:
                yield from (event for at, _, event in fields(line) if at == EVENT and field_of(event, 1) in kinds)


def text_stat(plane, name, value):
    return text(STAT, number(1, plane.stats[name]) + text(5, value))


def holds_more(data, op, size, memory_id=None):
    """The profile with one more allocation of that op and size, held to the end, in the memory of most events."""
    return changed_fields(data, PLANE, lambda plane: plane_with_more(Plane(plane), op, size, memory_id))


def plane_with_more(plane, op, size, memory_id):
    events = [event for event in plane.memory_events()]
    if not events:
        return plane.data
    ids = [plane.text_of(event, "allocator_name") for event in events]
    memory_id = memory_id or max(set(ids), key=ids.count)
    mine = [event for event, one in zip(events, ids) if one == memory_id]
    allocations = [event for event in mine if field_of(event, 1) == plane.events["MemoryAllocation"]]
    begun = sorted(allocations, key=lambda event: field_of(event, 2))[len(allocations) // 4]
    since_ps = field_of(begun, 2)

    def more(event):
        if field_of(event, 1) not in (plane.events["MemoryAllocation"], plane.events.get("MemoryDeallocation")):
            return event
        if field_of(event, 2) < since_ps or plane.text_of(event, "allocator_name") != memory_id:
            return event
        told = {name: plane.number_of(event, name) for name in ("bytes_allocated", "peak_bytes_in_use")}
        return plane.with_numbers(event, {name: value + size for name, value in told.items() if value is not None})

    def line_with_more(line):
        if begun not in [event for field, _, event in fields(line) if field == EVENT]:
            return changed_fields(line, EVENT, more)
        parts = []
        for field, kind, value in fields(line):
            if field == EVENT and value == begun:
                parts.append((field, kind, extra_event(plane, begun, op, size)))
            parts.append((field, kind, more(value) if field == EVENT else value))
        return message(parts)

    return changed_fields(plane.data, LINE, line_with_more)


def extra_event(plane, like, op, size):
    """Before `like`, at its time: an allocation of `op` at an address that nothing else has."""
    told = {name: plane.number_of(like, name) for name in ("bytes_allocated", "peak_bytes_in_use")}
    freed = plane.number_of(like, "allocation_bytes") or 0
    values = {name: value - freed + size for name, value in told.items() if value is not None}
    extra = plane.with_numbers(like, {**values, "allocation_bytes": size, "requested_bytes": size, "addr": 0x7E57})
    kept = [part for part in fields(extra) if part[0] != STAT or field_of(part[2], 1) != plane.stats.get("tf_op")]
    return message(kept) + (text_stat(plane, "tf_op", op) if "tf_op" in plane.stats else b"")


# --- Device memory profiles ---

def device_memory(name):
    return gzip.decompress((FIXTURES / "device_memory" / name).read_bytes())


def holds_more_arrays(data, more):
    """The device memory profile with `more` bytes at the stack of its largest sample."""
    def values(sample):
        packed, at, found = field_of(sample, 2, b""), 0, []
        while at < len(packed):
            value, at = read_varint(packed, at)
            found.append(value)
        return found

    samples = [sample for field, _, sample in fields(data) if field == 2]
    largest = max(samples, key=lambda sample: values(sample)[1])
    count, size = values(largest)
    grown = changed_fields(largest, 2, lambda _: varint(count) + varint(size + more))
    return changed_fields(data, 2, lambda sample: grown if sample == largest else sample)


def main(root, hosts):
    """The sessions that the page's tests look at: one host of each is not like the others."""
    memory, arrays = xplane("tf_two_allocators"), device_memory("two_devices.memory.prof")
    sessions = [
        pod("programs", xplane("v5e_gpt_4layer"), hosts, {17: xplane("v5e_gpt_scan")}),
        pod("memory", memory, hosts, {17: holds_more(memory, "Held/MatMul", 2 << 30, "bfc_cpu_allocator_for_gpu")}),
        {f"devices/{host_name(i)}.memory.prof": holds_more_arrays(arrays, 3 << 30) if i == 2 else arrays
         for i in range(5)},
    ]
    for name, data in ((name, data) for files in sessions for name, data in files.items()):
        place = pathlib.Path(root, "plugins", "profile", name)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        age(place)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
