"""Small profiles made by hand, each for one rule of XProf's Memory Profile that no recorded profile shows.

CASES names a function for each; make(name) gives the file's bytes. scripts/make-fixtures puts them into one session,
a host each, and records XProf's answers. The planes of most have a stat named "group_id", which tells XProf that steps
are known already, so that it takes them as they stand; in those of step_case XProf has to find the steps itself.
"""
import math

from profile_build import Profile, Ref, Unsigned

CASES = {}
UNGROUPED = set()


def case(function):
    CASES[function.__name__.replace("_", "-")] = function
    return function


def step_case(function):
    UNGROUPED.add(function.__name__.replace("_", "-"))
    return case(function)


def make(name):
    profile = Profile(has_host=name != "no-host-plane")
    if profile.host and name not in UNGROUPED:
        profile.host.stat_id("group_id")
    CASES[name](profile)
    return profile.bytes()


def memory_event(profile, line, offset_ps, is_free=False, **stats):
    told = {
        "allocator_name": Ref("bfc"), "bytes_allocated": 0, "bytes_reserved": 0, "bytes_available": 1 << 20,
        "fragmentation": 0.25, "peak_bytes_in_use": 0, "requested_bytes": 100, "allocation_bytes": 256, "addr": 1,
        "tf_op": Ref("op"), "region_type": "output", "data_type": 1, "shape": "[2]",
    }
    told.update(stats)
    told = {key: value for key, value in told.items() if value is not None}
    profile.host.event(line, "MemoryDeallocation" if is_free else "MemoryAllocation", offset_ps, **told)


@case
def no_host_plane(profile):
    profile.plane("/device:GPU:0")


@case
def no_events(profile):
    profile.host.line()


@case
def address_allocated_twice(profile):
    """Frees take the first allocation's texts; the table shows the second."""
    line = profile.host.line()
    events = [(False, 1, "A", 1), (False, 1, "B", 2), (True, 1, "", 1), (True, 1, "", 0), (False, 2, "C", 5),
              (False, 2, "D", 9), (False, 3, "E", 12)]
    for i, (is_free, address, op, heap) in enumerate(events):
        memory_event(profile, line, 10 * i, is_free, bytes_allocated=heap, addr=address, group_id=0, tf_op=op,
                     allocation_bytes=i + 1)


@case
def equal_peaks(profile):
    """The peak is the last in the file's order, its step the last in the order of time."""
    a, b = profile.host.line(), profile.host.line()
    for i, heap in enumerate([10, 100, 10, 100]):
        memory_event(profile, a, 10 + 10 * i, bytes_allocated=heap, addr=i, group_id=i, peak_bytes_in_use=200)
    for i, heap in enumerate([10, 100, 100, 10]):
        memory_event(profile, b, 5 + 10 * i, bytes_allocated=heap, addr=10 + i, group_id=i, peak_bytes_in_use=90 + i)


@case
def rows_that_look_alike(profile):
    """Data types are compared by name, and the special row of the stack merges with a real one like it."""
    line = profile.host.line()
    for i, data_type in enumerate([0, 1 << 32, None, 1, 101, 1]):
        memory_event(profile, line, 10 * i, bytes_allocated=100 * i, addr=i, group_id=0, data_type=data_type)
    memory_event(profile, line, 100, bytes_allocated=1200, bytes_reserved=64, addr=77, group_id=0, tf_op="stack",
                 region_type="stack", data_type=0, shape="unknown", requested_bytes=64, allocation_bytes=64)


@case
def all_below_zero(profile):
    """No event reaches 0 bytes in use, so there is no peak."""
    line = profile.host.line()
    for i in range(5):
        memory_event(profile, line, 10 * i, i % 2 == 1, bytes_allocated=-5 - i, addr=i, group_id=i,
                     peak_bytes_in_use=9 - i)


@case
def lines_that_start_apart(profile):
    """XProf sorts by the time in each event's own line, and completes steps in that order."""
    lines = [profile.host.line("a", 5), profile.host.line("b", 0), profile.host.line("c", 1000)]
    steps = [None, 0, None, 1, None, 2, 2, None, 3, None, None, 1]
    for i, step in enumerate(steps * 3):
        stats = {} if step is None else {"group_id": step}
        memory_event(profile, lines[i % 3], 4000 * (i // 3) + (700 * i) % 1100, i % 4 == 3, addr=(5 * i) % 7,
                     bytes_allocated=256 * ((11 * i) % 13), tf_op=f"op{i}", **stats)


@case
def steps_that_go_back(profile):
    """A free in another step than its allocation leaves it in the table, or takes a later one out."""
    line = profile.host.line()
    events = [(2, False, 1), (3, True, 1), (2, False, 1), (2, True, 1), (2, False, 2), (3, True, 2), (3, False, 2),
              (2, True, 2), (2, True, 3), (2, False, 4), (3, True, 4), (2, False, 5), (2, False, 6)]
    for i, (step, is_free, address) in enumerate(events):
        memory_event(profile, line, 10 * i, is_free, bytes_allocated=1000 * (i + 1), addr=address, group_id=step,
                     tf_op=f"op{i}", bytes_reserved=7)


@case
def steps_unknown(profile):
    """Before the first known step: 0. After it: one more. A step of -1 counts as unknown."""
    line = profile.host.line()
    for i, step in enumerate([None, -1, 7, None, None, 3, None, -5, None, -1]):
        stats = {} if step is None else {"group_id": step}
        memory_event(profile, line, 10 * i, bytes_allocated=i, addr=i, **stats)


@case
def fragmentation_of_all_kinds(profile):
    line = profile.host.line()
    kinds = [0.1, 1e-9, -0.5, 0.000124008, math.nan, math.inf, -math.inf, 1, Unsigned(1), "0.5", None, 1 / 3]
    for i, value in enumerate(kinds):
        memory_event(profile, line, 10 * i, bytes_allocated=i, addr=i, group_id=0, fragmentation=value)


@case
def memory_ids(profile):
    """The last stat that names the memory counts; without one the id is empty. Numbers that are no int64 are 0."""
    line = profile.host.line()
    names = [{"index_on_host": 3}, {"device_ordinal": 4}, {"allocator_name": "x", "device_ordinal": 4},
             {"device_ordinal": 4, "allocator_name": "x"}, {}, {"device_ordinal": -1}, {"device_ordinal": Unsigned(9)},
             {"device_ordinal": 10}, {"allocator_name": "\u2603 \"\\<&>\n\x01"}]
    for i, told in enumerate(names):
        memory_event(profile, line, i, group_id=0, **{"allocator_name": None, **told})
    memory_event(profile, line, 20, group_id=1, addr=Unsigned(7), bytes_allocated=Unsigned(5), tf_op=b"bytes")
    memory_event(profile, line, 21, group_id=1, addr=-1, bytes_allocated="12", tf_op=7, requested_bytes=1.5)
    memory_event(profile, line, 22, group_id=1 << 62, addr=(1 << 63) - 1, peak_bytes_in_use=(1 << 63) - 1)


@case
def texts_of_all_kinds(profile):
    line = profile.host.line()
    for i, op in enumerate(["", '"\\/<>&\'', "\u2603\U0001f600", "a\x00b", "\x7f\x1f\t\n", Ref("by reference")]):
        memory_event(profile, line, 10 * i, bytes_allocated=i, addr=i, group_id=0, tf_op=op, region_type=op, shape=op)
    memory_event(profile, line, 60, True, bytes_allocated=9, addr=3, group_id=0, tf_op=None, region_type=None,
                 data_type=None, shape=None)


@case
def data_types(profile):
    line = profile.host.line()
    types = [*range(33), *range(99, 134), -1, 200, 1000, 1 << 31, (1 << 32) + 2, (1 << 63) - 1]
    for i, data_type in enumerate(types):
        memory_event(profile, line, i, bytes_allocated=i, addr=i, group_id=0, data_type=data_type)


@case
def same_time(profile):
    lines = [profile.host.line(), profile.host.line()]
    for i in range(14):
        memory_event(profile, lines[i % 2], 10 * (i // 4), i % 3 == 2, bytes_allocated=i, addr=i % 4, group_id=i // 5,
                     tf_op=f"op{i}")


@case
def sampled(profile):
    """More events than XProf shows: 1000 boxes of one or two."""
    line = profile.host.line()
    for i in range(1203):
        memory_event(profile, line, 1000 * i, i % 3 == 2, bytes_allocated=(37 * i) % 19 << 8, addr=(i // 3) % 50,
                     group_id=i // 400, tf_op=f"op{i % 5}", requested_bytes=100 + i % 5)


@case
def module_runs(profile):
    """Ids count up over all TPU planes; times are those in the line."""
    memory_event(profile, profile.host.line(), 0, group_id=0)
    for i, device in enumerate(["/device:TPU:0", "/device:TPU:1 SparseCore", "/device:GPU:0", "/device:TPU:10"]):
        plane = profile.plane(device)
        for name in ("XLA Modules", "XLA Ops", "XLA Modules"):
            line = plane.line(name, timestamp_ns=1000 * (i + 1))
            for start in (7, 5007):
                plane.event(line, f"jit_f<{start}>(1)", start, duration_ps=300)


# --- Steps that XProf finds by grouping events: spans are (name, offset, duration, stats) ---


def line_of(profile, spans, allocations):
    """One line with spans and, at their times, allocations; in the order of time."""
    line = profile.host.line()
    events = [(offset, -duration, name, stats) for name, offset, duration, stats in spans]
    events += [(offset, 0, None, {}) for offset in allocations]
    for offset, minus_duration, name, stats in sorted(events, key=lambda event: event[:2]):
        if name:
            profile.host.event(line, name, offset, duration_ps=-minus_duration, **stats)
        else:
            memory_event(profile, line, offset, addr=offset, bytes_allocated=offset)


TRAIN_TWICE = [("train", 10, 1000, {"_r": 1, "step_num": 4}), ("train", 2000, 1000, {"_r": 1, "step_num": 5})]


@step_case
def steps_through_contexts(profile):
    """What a root produces elsewhere belongs to it; an async consumer has no part in nesting."""
    line_of(profile, TRAIN_TWICE + [("x", 20, 0, {"_pt": 3, "_p": 7}), ("x", 2020, 0, {"_pt": 3, "_p": 8})], [2500])
    line_of(profile, [("y", 100, 100, {"_ct": 3, "_c": 7}), ("y", 3300, 200, {"_ct": 3, "_c": 8}),
                      ("y", 9900, 200, {"_ct": 3, "_c": 7, "_a": 1})], [120, 3320, 9000, 9920])


@step_case
def steps_of_levels(profile):
    """A larger level comes first; a root inside another of its level is part of it."""
    line_of(profile, [("a", 0, 1000, {"_r": 1}), ("b", 100, 100, {"_r": 2}), ("c", 300, 100, {"_r": 1}),
                      ("TraceContext", 2000, 100, {}), ("z", 3000, 100, {"_r": 0}), ("z", 4000, 100, {"_r": -1}),
                      ("z", 5000, 100, {"_r": 1, "_a": 1}), ("crossing", 6000, 100, {"_r": 1}),
                      ("over", 6050, 100, {})],
            [150, 350, 500, 2050, 3050, 4050, 5050, 6040, 6060])


@step_case
def steps_of_known_roots(profile):
    """Batches are roots by their name."""
    line_of(profile, [("ProcessBatch", 0, 100, {}), ("ProcessBatch", 200, 100, {}),
                      ("BatchingSessionRun", 400, 100, {}), ("OrbaxServing::ProcessBatch", 600, 100, {})],
            [50, 250, 450, 650])


@step_case
def steps_of_runs(profile):
    """An executor leads to the iterator and the TPU execution of its run; of several executors the last one."""
    executor = "ExecutorState::Process"
    line_of(profile, TRAIN_TWICE + [(executor, 20, 10, {"id": 5, "iter_num": 0}),
                                    (executor, 2020, 10, {"id": 6, "iter_num": 0}),
                                    (executor, 2040, 10, {"id": 7, "iter_num": 0})], [2500])
    line_of(profile, [(executor, 50, 10, {"id": 7, "iter_num": 0}),
                      ("IteratorGetNextOp::DoCompute", 3000, 100, {"id": 5, "iter_num": 0}),
                      ("IteratorGetNextAsOptionalOp::DoCompute", 4000, 100, {"id": 6, "iter_num": 0}),
                      ("TpuExecuteOp", 5000, 100, {"id": 5, "iter_num": 0}),
                      ("IteratorGetNextOp::DoCompute", 6000, 100, {"id": 7, "iter_num": 0})],
            [3050, 4050, 5050, 6050, 9000])


@step_case
def steps_of_loops(profile):
    """Where a function's run tells iterations, these are the steps, and roots are not looked at."""
    executor = "ExecutorState::Process"
    line_of(profile, TRAIN_TWICE + [(executor, 100 + 100 * i, 80, {"id": 9, "iter_num": i}) for i in range(4)]
            + [(executor, 2100, 80, {"id": 10, "iter_num": 0})], [150, 250, 350, 450, 1005, 2150])
    line_of(profile, [(executor, 120, 50, {"id": 9, "iter_num": 0}), (executor, 700, 50, {"id": 9, "iter_num": 1}),
                      (executor, 800, 50, {"id": 11, "iter_num": 3})], [130, 720, 820])


@step_case
def steps_not_of_pipelines(profile):
    """A root that an input pipeline ran is no step."""
    line_of(profile, [("train", 10, 100, {"_r": 1, "id": 3}), ("train", 200, 100, {"_r": 1, "id": 4})], [50, 250])
    line_of(profile, [("InstantiatedCapturedFunction::Run", 500, 1, {"id": 3})], [])


@step_case
def steps_not_with_loop_operations(profile):
    """A plane that names one of TensorFlow's loop operations is not grouped at all."""
    line_of(profile, TRAIN_TWICE + [("ForOp", 5000, 1, {})], [500, 2500])


@step_case
def steps_not_through_regions(profile):
    """The regions of a thread pool connect nothing."""
    line_of(profile, TRAIN_TWICE + [("ThreadpoolListener::Record", 20, 0, {"_pt": 15, "_p": 7}),
                                    ("ThreadpoolListener::Record", 2020, 0, {"_pt": 15, "_p": 8})], [2500])
    line_of(profile, [("ThreadpoolListener::StartRegion", 100, 0, {"_ct": 15, "_c": 7}),
                      ("ThreadpoolListener::StopRegion", 200, 0, {}),
                      ("ThreadpoolListener::StartRegion", 3300, 0, {"_ct": 15, "_c": 8}),
                      ("ThreadpoolListener::StopRegion", 3400, 0, {})], [120, 3320, 9000])


@step_case
def steps_on_crowded_contexts(profile):
    """A context with 64 producers and 64 consumers connects nobody; one with fewer of either does."""
    line_of(profile, TRAIN_TWICE + [("x", 20 + i, 0, {"_pt": 3, "_p": 7}) for i in range(64)]
            + [("x", 2020 + i, 0, {"_pt": 3, "_p": 8}) for i in range(64)], [2500])
    line_of(profile, [("y", 10000 + 10 * i, 10, {"_ct": 3, "_c": 7}) for i in range(64)]
            + [("y", 20000 + 10 * i, 10, {"_ct": 3, "_c": 8}) for i in range(63)], [10005, 20005])
