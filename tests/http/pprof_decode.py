"""Reads a pprof file, independently of the program: samples with their stacks, labels and values.

    for sample in samples(path): sample["stack"], sample["labels"], sample["values"]      # stack: outermost frame first
"""
import gzip
import pathlib


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            assert key & 7 == 2, "pprof has numbers and messages only"
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def numbers(values):
    """A repeated integer field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        at = 0
        while at < len(value):
            number, at = varint(value, at)
            yield number


def message(data):
    out = {}
    for number, value in fields(data):
        out.setdefault(number, []).append(value)
    return out


def samples(path):
    data = pathlib.Path(path).read_bytes()
    profile = message(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    text = [value.decode() for value in profile[6]]
    functions = {f[1][0]: (text[f.get(2, [0])[0]], text[f.get(4, [0])[0]]) for f in map(message, profile.get(5, []))}
    locations = {}
    for location in map(message, profile.get(4, [])):
        lines = [message(line) for line in location.get(4, [])]
        locations[location[1][0]] = [(*functions[line[1][0]], line.get(2, [0])[0]) for line in lines]
    out = []
    for sample in map(message, profile.get(2, [])):
        stack = [frame for place in numbers(sample.get(1, [])) for frame in locations[place]]
        labels = [message(label) for label in sample.get(3, [])]
        out.append({"stack": stack[::-1], "values": list(numbers(sample[2])),
                    "labels": {text[label[1][0]]: text[label.get(2, [0])[0]] for label in labels}})
    return out
