"""Encodes the few fields of an XSpace (proto/xplane.proto) that carry programs, without protobuf."""


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number_field(field, number):
    return varint(field << 3) + varint(number)


def bytes_field(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def map_entry(field, key, value):
    return bytes_field(field, number_field(1, key) + bytes_field(2, value))


def device_plane(number, content):
    """A plane that is passed over by its length: `content` is a field that nobody reads."""
    return bytes_field(1, bytes_field(2, f"/device:TPU:{number}") + bytes_field(15, content))


def session(host, programs):
    """An XSpace whose /host:metadata plane holds `programs`: (module name, program id, HloProto)."""
    plane = number_field(1, 1) + bytes_field(2, "/host:metadata")
    for name, program_id, hlo_proto in programs:
        stat = number_field(1, 1) + bytes_field(6, hlo_proto)
        event = number_field(1, program_id) + bytes_field(2, f"{name}({program_id})") + bytes_field(5, stat)
        plane += map_entry(4, program_id, event)
    plane += map_entry(5, 1, number_field(1, 1) + bytes_field(2, "Hlo Proto"))
    return bytes_field(1, plane) + bytes_field(4, host)
