"""Writes a program of 500,000 buffers and a million heap events: large_program.py FILE [BUFFERS]

    instruction   0      1      2     ...  n-1      one computation, in program order
    buffer        [------)                          most live for a few instructions, three of ten for thousands
                         [----------------)         each size has slots of its own in one temporary allocation

The same bytes every time. What it is not: a program that any compiler made; the figures in it mean nothing.
"""
import heapq
import random
import sys

from xspace_bytes import bytes_field, number_field, session, varint

DIMENSIONS = [(8, 128), (12, 200), (64, 512), (256, 1024), (1000, 130), (1024, 4096)]
OPCODES = ["fusion", "convolution", "copy", "custom-call", "all-reduce"]
F32, HEAP_INDEX = 11, 0
ALLOC, FREE = 0, 1
LAYERS = 96


def packed(field, numbers):
    return bytes_field(field, b"".join(map(varint, numbers)))


def shape(dimensions):
    tile = bytes_field(6, packed(1, [8, 128]))
    return number_field(2, F32) + packed(3, dimensions) + bytes_field(5, packed(1, [1, 0]) + tile)


def size_of(dimensions):  # in tiles of 8 by 128
    return -(-dimensions[0] // 8) * 8 * (-(-dimensions[1] // 128) * 128) * 4


def op_name(index, count):
    layer, way = index * LAYERS // count, "transpose(jvp(block))" if index > count // 2 else "jvp(block)"
    return f"jit(train_step)/{way}/layer_{layer}/{['attention', 'mlp', 'norm'][index % 3]}/dot_general"


def instruction(index, opcode, dimensions, count):
    source = bytes_field(3, "/home/u/train.py") + number_field(4, index % 900)
    metadata = bytes_field(2, op_name(index, count)) + source
    words = bytes_field(1, f"{opcode}.{index}") + bytes_field(2, opcode) + bytes_field(3, shape(dimensions))
    return bytes_field(2, words + bytes_field(7, metadata) + number_field(35, index + 1))


class Slots:
    """Places of one size, the lowest free one first."""

    def __init__(self):
        self.free, self.count = [], 0

    def take(self):
        if self.free:
            return heapq.heappop(self.free)
        self.count += 1
        return self.count - 1

    def give(self, slot):
        heapq.heappush(self.free, slot)


def simulate(choices, rng):
    """(slot of each buffer, [(kind, buffer)], slots by dimensions)"""
    slots = {dimensions: Slots() for dimensions in DIMENSIONS}
    slot_of, events, ends = [], [], []
    for index, (_, dimensions) in enumerate(choices):
        while ends and ends[0][0] <= index:
            done = heapq.heappop(ends)[1]
            slots[choices[done][1]].give(slot_of[done])
            events.append((FREE, done))
        slot_of.append(slots[dimensions].take())
        events.append((ALLOC, index))
        life = rng.randrange(2000, 20000) if rng.random() < 0.3 else rng.randrange(1, 40)
        heapq.heappush(ends, (index + life, index))
    events += [(FREE, done) for _, done in sorted(ends)]
    return slot_of, events, slots


def hlo_proto(count):
    rng = random.Random(1)
    choices = [(rng.choice(OPCODES), rng.choice(DIMENSIONS)) for _ in range(count)]
    slot_of, events, slots = simulate(choices, rng)
    base, heap_bytes = {}, 0
    for dimensions, of_size in slots.items():
        base[dimensions] = heap_bytes
        heap_bytes += of_size.count * size_of(dimensions)
    return (bytes_field(1, module(choices)) + bytes_field(3, assignment(choices, slot_of, base, heap_bytes, events)))


def module(choices):
    count = len(choices)
    body = b"".join(instruction(i, opcode, dims, count) for i, (opcode, dims) in enumerate(choices))
    computation = bytes_field(1, "main") + body + number_field(5, 1) + number_field(6, count)
    sequence = number_field(1, 1) + bytes_field(2, packed(1, range(1, count + 1)))
    return (bytes_field(1, "jit_large") + bytes_field(2, "main") + bytes_field(3, computation) + number_field(5, 1)
            + number_field(6, 1) + bytes_field(7, bytes_field(1, sequence)))


def assignment(choices, slot_of, base, heap_bytes, events):
    logical, assigned, trace = [], [], []
    for i, (_, dims) in enumerate(choices):
        size = number_field(2, size_of(dims))
        logical.append(bytes_field(1, number_field(1, i + 1) + size + bytes_field(3, number_field(4, i + 1))))
        offset = number_field(2, base[dims] + slot_of[i] * size_of(dims))
        assigned.append(bytes_field(9, number_field(1, i + 1) + offset + number_field(3, size_of(dims))))
    for kind, i in events:
        names = bytes_field(3, "main") + bytes_field(4, f"{choices[i][0]}.{i}")
        trace.append(bytes_field(1, number_field(1, kind) + number_field(2, i + 1) + names))
    heap = number_field(1, HEAP_INDEX) + number_field(2, heap_bytes) + b"".join(assigned)
    return b"".join(logical) + bytes_field(3, heap) + bytes_field(4, b"".join(trace) + number_field(2, 1))


def main():
    target, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500_000
    with open(target, "wb") as file:
        file.write(session("tpu-vm-0", [("jit_large", 1, hlo_proto(count))]))


if __name__ == "__main__":
    main()
