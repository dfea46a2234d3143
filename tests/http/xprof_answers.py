#!/usr/bin/env python3
"""Does hbmview answer as XProf did? Compares meaning for meaning with XProf's recorded answers.

    xprof_answers.py [FOLDER] [--verbose]

FOLDER (default tests/fixtures) holds logdir/, which the program serves, and xprof_golden/ (index.json: path, query,
status, file; the bodies gzipped). Before that, the comparer proves itself: of every recorded answer it must accept
versions that mean the same and refuse versions that were altered.

XProf's own answers vary from run to run in what follows its hash tables, so this may differ:
  - the order of parameters, outputs and constants at the peak, in indefiniteLifetimes and in bufferBlocks
  - the running numbers that stand for colours (numbered, color), and with the order the two index maps
  - which of several allocations that look alike stands for their row of the Memory Profile's table
  - the order of keys; a key that is absent means the default (0, "", false, empty), as protobuf prints JSON
All else must agree, numbers that are not whole to 1e-9 relative.
"""
import argparse
import collections
import copy
import gzip
import json
import math
import pathlib
import random
import sys

from server_fixture import FIXTURES, Server

RELATIVE = 1e-9
DEFAULTS = (0, "", False, None, [], {}, "0")
MOST_SHOWN = 20
ALTERATIONS_EACH = 12


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_default(value):
    return any(value == default for default in DEFAULTS)


def numbers_agree(a, b):
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=1e-15)


def differences(xprof, ours, where=""):
    """Yields a sentence for each place where two JSON values differ; order matters in lists."""
    if is_number(xprof) and is_number(ours):
        if not numbers_agree(xprof, ours):
            yield f"{where}: XProf has {xprof!r}, we have {ours!r}"
    elif isinstance(xprof, dict) and isinstance(ours, dict):
        for key in sorted(xprof.keys() | ours.keys()):
            if key in xprof and key in ours:
                yield from differences(xprof[key], ours[key], f"{where}.{key}")
            elif not is_default(xprof.get(key, ours.get(key))):
                yield f"{where}.{key}: only {'XProf' if key in xprof else 'we'} have it"
    elif isinstance(xprof, list) and isinstance(ours, list):
        if len(xprof) != len(ours):
            yield f"{where}: XProf has {len(xprof)} items, we have {len(ours)}"
        for i, (a, b) in enumerate(zip(xprof, ours)):
            yield from differences(a, b, f"{where}[{i}]")
    elif xprof != ours or isinstance(xprof, bool) != isinstance(ours, bool):
        yield f"{where}: XProf has {str(xprof)[:120]!r}, we have {str(ours)[:120]!r}"


def skeleton(value, numbers):
    """The value as a sortable text, with its numbers taken out, in order, into `numbers`."""
    if is_number(value):
        numbers.append(value)
        return "#"
    if isinstance(value, dict):
        parts = (f"{k}:{skeleton(v, numbers)}" for k, v in sorted(value.items()) if not is_default(v))
        return "{" + ",".join(parts) + "}"
    if isinstance(value, list):
        return "[" + ",".join(skeleton(v, numbers) for v in value) + "]"
    return json.dumps(value)


def groups(items, without):
    """Items by skeleton; in each group the numbers of each item, sorted. This is how bags are matched."""
    found = collections.defaultdict(list)
    for item in items:
        numbers = []
        text = skeleton({k: v for k, v in item.items() if k not in without}, numbers)
        found[text].append(numbers)
    return {text: sorted(rows) for text, rows in found.items()}


def bag_differences(xprof, ours, where, without=()):
    """As differences() of two lists of objects whose order is free."""
    theirs, mine = groups(xprof, without), groups(ours, without)
    for text in sorted(theirs.keys() | mine.keys()):
        a, b = theirs.get(text, []), mine.get(text, [])
        if len(a) != len(b):
            yield f"{where}: XProf has {len(a)}, we have {len(b)} of {text[:240]}"
        for row_a, row_b in zip(a, b):
            if not all(map(numbers_agree, row_a, row_b)):
                yield f"{where}: numbers {row_a} and {row_b} of {text[:200]}"


def temporaries(answer):
    """The ids of the simulated buffers at the peak, whose order is the program's."""
    spans = answer.get("logicalBufferSpans", {})
    return [o["logicalBufferId"] for o in answer.get("maxHeap", []) if str(o.get("logicalBufferId", 0)) in spans]


def without_numbers(item):
    return {k: v for k, v in item.items() if k != "numbered" and not is_default(v)}


def map_differences(answer):
    """maxHeapToBySize and bySizeToMaxHeap lead from each bar to the same bar of the other chart, and back."""
    heap, by_size = answer.get("maxHeap", []), answer.get("maxHeapBySize", [])
    there, back = answer.get("maxHeapToBySize", []), answer.get("bySizeToMaxHeap", [])
    sizes = [o.get("logicalBufferSizeMib", 0) for o in by_size]
    if sizes != sorted(sizes, reverse=True):
        yield "maxHeapBySize: not from large to small"
    if not len(heap) == len(by_size) == len(there) == len(back):
        yield f"lengths of maxHeap and its maps: {len(heap)}, {len(by_size)}, {len(there)}, {len(back)}"
    elif sorted(there) != list(range(len(heap))) or any(back[to] != i for i, to in enumerate(there)):
        yield "maxHeapToBySize and bySizeToMaxHeap: not each other's inverse"
    elif any(without_numbers(heap[i]) != without_numbers(by_size[to]) for i, to in enumerate(there)):
        yield "maxHeapToBySize: leads to another bar"


BAGS = {"maxHeap": ("numbered",), "maxHeapBySize": ("numbered",), "indefiniteLifetimes": (), "bufferBlocks": ("color",)}
MAPS = ("maxHeapToBySize", "bySizeToMaxHeap")


def viewer_differences(xprof, ours):
    for key, free in BAGS.items():
        yield from bag_differences(xprof.get(key, []), ours.get(key, []), key, free)
    yield from differences(temporaries(xprof), temporaries(ours), "maxHeap, order of temporaries")
    yield from map_differences(ours)
    rest_a, rest_b = ({k: v for k, v in d.items() if k not in BAGS and k not in MAPS} for d in (xprof, ours))
    yield from differences(rest_a, rest_b)


# What a merged row of the Memory Profile does not say, in the event that stands for it.
FREE_OF_MERGED_ROW = {"": ("timeOffsetPs", "aggregationStats"), "activityMetadata": ("address", "stepId")}


def merged_places(profile):
    """The places of the events that stand for rows of more than one allocation."""
    for row in profile["activeAllocations"]:
        place = int(row["snapshotIndex"])
        if place >= 0 and int(row["numOccurrences"]) > 1:
            yield place


def without_choice(answer, xprof):
    """A copy of a Memory Profile without what hash order decided in XProf's."""
    result = copy.deepcopy(answer)
    for name, theirs in xprof["memoryProfilePerAllocator"].items():
        snapshots = result.get("memoryProfilePerAllocator", {}).get(name, {}).get("memoryProfileSnapshots", [])
        for place in merged_places(theirs):
            if place < len(snapshots):
                for part, keys in FREE_OF_MERGED_ROW.items():
                    for key in keys:
                        (snapshots[place].get(part, {}) if part else snapshots[place]).pop(key, None)
    return result


def profile_differences(xprof, ours):
    yield from differences(without_choice(xprof, xprof), without_choice(ours, xprof))


TOOLS = {"memory_viewer": viewer_differences, "memory_profile": profile_differences}


def memory_tools(tools):
    """We offer XProf's memory tools and need not offer the others."""
    return sorted(t for t in tools if t.startswith("memory_"))


def body_differences(entry, xprof, ours):
    """Yields the differences between two bodies (bytes) that answer the request of an index entry."""
    if entry["path"] == "module_list":
        yield from differences(sorted(xprof.decode().split(",")), sorted(ours.decode().split(",")), "modules")
        return
    if not xprof.strip():
        if ours.strip():
            yield f"XProf's body is empty, ours is {ours[:80]!r}"
        return
    xprof, ours = json.loads(xprof), json.loads(ours)
    if entry["path"] == "data":
        yield from TOOLS[entry["query"]["tag"]](xprof, ours)
    elif entry["path"] == "run_tools":
        yield from differences(memory_tools(xprof), memory_tools(ours), "tools")
    else:
        yield from differences(xprof, ours)


# --- The comparer's own test ---

FREE_KEYS = {"numbered", "color", *MAPS}


def leaves(value, path=()):
    """Paths to every value that must not change unseen."""
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if key not in FREE_KEYS:
                yield from leaves(inner, path + (key,))
    elif not is_default(value):
        yield path


def fixed(answer):
    """The part of an answer of which leaves() may be altered."""
    return without_choice(answer, answer) if "memoryProfilePerAllocator" in answer else answer


def holder_of(answer, path):
    for key in path[:-1]:
        answer = answer[key]
    return answer


def altered(answer, dice):
    """A copy with one value changed, or one taken away."""
    result = copy.deepcopy(answer)
    path = dice.choice(list(leaves(fixed(answer))))
    holder, key = holder_of(result, path), path[-1]
    value = holder[key]
    if dice.random() < 0.25:
        del holder[key]
    elif is_number(value):
        holder[key] = value + 1 if isinstance(value, int) else value * (1 + 1e-6)
    else:
        holder[key] = (not value) if isinstance(value, bool) else value + "?"
    return result, ".".join(map(str, path))


def same_profile(answer, dice):
    """A copy in which other allocations stand for merged rows, keys reversed."""
    result = copy.deepcopy(answer)
    for profile in result["memoryProfilePerAllocator"].values():
        for place in merged_places(profile):
            snapshot = profile["memoryProfileSnapshots"][place]
            snapshot["timeOffsetPs"] = str(dice.randrange(1 << 40))
            snapshot["activityMetadata"]["address"] = str(dice.randrange(1 << 60))
    return dict(reversed(result.items()))


def same_view(answer, dice):
    """A copy in another order: the indefinite bars shuffled among their places, colours renumbered, keys reversed."""
    result = copy.deepcopy(answer)
    heap, live = result.get("maxHeap", []), set(temporaries(result))
    places = [i for i, o in enumerate(heap) if o.get("logicalBufferId", 0) not in live]
    shuffled = dice.sample(places, len(places))
    moved = {a: b for a, b in zip(places, shuffled)}
    old = list(heap)
    for a, b in moved.items():
        heap[b] = old[a]
    if "maxHeapToBySize" in result:
        there = result["maxHeapToBySize"]
        result["maxHeapToBySize"] = [there[{b: a for a, b in moved.items()}.get(i, i)] for i in range(len(there))]
        result["bySizeToMaxHeap"] = [moved.get(i, i) for i in result["bySizeToMaxHeap"]]
    for key in ("indefiniteLifetimes", "bufferBlocks"):
        if key in result:
            dice.shuffle(result[key])
    for item in heap + result.get("maxHeapBySize", []):
        item["numbered"] = item.get("numbered", 0) + 7
    return dict(reversed(result.items()))


def swapped_temporaries(answer):
    """A copy with two simulated buffers in the wrong order and the maps put right; None when it has fewer."""
    result = copy.deepcopy(answer)
    live = set(temporaries(result))
    heap = result.get("maxHeap", [])
    places = [i for i, o in enumerate(heap) if o.get("logicalBufferId", 0) in live]
    if len(places) < 2:
        return None
    a, b = places[0], places[-1]
    there, back = result["maxHeapToBySize"], result["bySizeToMaxHeap"]
    heap[a], heap[b] = heap[b], heap[a]
    there[a], there[b] = there[b], there[a]
    back[there[a]], back[there[b]] = a, b
    return result


def self_check(recorded):
    """Yields (name, what is wrong or None) for each proof of the comparer."""
    for entry, body in recorded:
        if entry["path"] != "data" or not body.strip(b"{} \n"):
            continue
        answer, dice = json.loads(body), random.Random(entry["file"])
        compare = TOOLS[entry["query"]["tag"]]
        same_meaning = same_profile if compare == profile_differences else same_view
        again = list(compare(answer, same_meaning(answer, dice)))
        yield entry["file"], f"refused what means the same: {again[0]}" if again else None
        for _ in range(ALTERATIONS_EACH):
            other, what = altered(answer, dice)
            yield entry["file"], None if any(compare(answer, other)) else f"accepted a change of {what}"
        swapped = swapped_temporaries(answer)
        if swapped and not any(viewer_differences(answer, swapped)):
            yield entry["file"], "accepted temporaries in another order"


# --- Against the program ---


def load(folder):
    golden = pathlib.Path(folder) / "xprof_golden"
    for entry in json.loads((golden / "index.json").read_text()):
        yield entry, gzip.decompress((golden / (entry["file"] + ".gz")).read_bytes())


def ask(server, entry):
    answer = server.get("/data/plugin/profile/" + entry["path"], entry["query"], {"Accept-Encoding": "gzip"})
    return answer.status, answer.body


def answer_differences(server, entry, body):
    try:
        status, ours = ask(server, entry)
        if status != entry["status"]:
            return [f"status {status}, XProf answers {entry['status']}: {ours[:200]!r}"]
        return list(body_differences(entry, body, ours))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as wrong:
        return [f"no comparable answer: {type(wrong).__name__}: {wrong}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", default=FIXTURES)
    parser.add_argument("--verbose", action="store_true", help=f"up to {MOST_SHOWN} differences of an answer, not one")
    options = parser.parse_args()
    recorded = list(load(options.folder))
    proofs = list(self_check(recorded))
    wrong = []
    if not all(what is None for _, what in proofs):
        wrong.append("the comparer: " + "; ".join(f"{name}: {what}" for name, what in proofs if what))
    with Server(logdir=pathlib.Path(options.folder) / "logdir") as server:
        for entry, body in recorded:
            found = answer_differences(server, entry, body)
            if found:
                more = found[1:MOST_SHOWN] if options.verbose else []
                wrong.append("\n        ".join([f"{entry['file']}: {len(found)} differences: {found[0]}", *more]))
    for line in wrong:
        print("FAILED", line)
    print(f"{len(proofs)} proofs of the comparer, {len(recorded)} answers of XProf")
    print(f"{1 + len(recorded) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not recorded else 0


if __name__ == "__main__":
    sys.exit(main())
