"""Large profiles made of a small one: device planes that weigh much, before the planes of a fixture."""


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def head(field, size):
    """What stands before a payload of that size."""
    return varint(field << 3 | 2) + varint(size)


def message(field, payload):
    return head(field, len(payload)) + payload


def write_large_profile(path, planes, plane_sizes):
    """A file with a device plane of (about) each size, then `planes`. The former are holes of the file."""
    with path.open("wb") as file:
        for number, size in enumerate(plane_sizes):
            name = message(2, f"/device:TPU:{number}".encode())
            line = b"\x08\x01" + message(11, b"XLA Ops")
            event = head(4, size)
            line_size = len(line) + len(event) + size
            inside = name + head(3, line_size) + line + event
            file.write(head(1, len(inside) + size) + inside)
            file.seek(size, 1)
        file.write(planes)
