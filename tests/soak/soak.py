#!/usr/bin/env python3
"""Soaks one server: soak.py [SECONDS [SEED]] (make soak). hbmview is $HBMVIEW.

Hundreds of clients, well-behaved and awkward, ask a server with a 32 MiB cache for whatever there is while sessions are
added, replaced, cut short and removed underneath. It fails when a body is not that of a fresh server, when a status is
not documented (500: never), when a client that keeps to HTTP gets no answer or too many are told to come again (503),
when memory passes what the cache and the program may take, when memory or descriptors grow, or when the server does not
end well. Prints the figures.
"""
import asyncio
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import clients  # noqa: E402
import expected  # noqa: E402
from moving_sessions import MovingSessions  # noqa: E402
from process_watch import ProcessWatch, sample  # noqa: E402
from server_fixture import FIXTURES, Server  # noqa: E402

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
VERSIONS = [PROFILES / name for name in ("v5e_matmul", "v5e_padded", "tf_oom", "tf_leak", "v5e_gpt_scan")]
MOVING = ("moving_0", "moving_1", "moving_2")
STEADY, FOLLOWERS, OF_EACH_AWKWARD = 24, 8, 24
CACHE_MIB = 32
# After the clients have gone: the listening socket, the loop's own, what watches the log directory, a few kept alive.
DESCRIPTORS_SLACK = 8
GROWTH_SLACK = 16 << 20
# Beside the cache: the program, its threads and connections; and what is under way, most of it the bodies that the
# "unfinished" clients have begun to send, a MiB each, and the pages that others save, with what they are made of.
PROGRAM_MIB, PAGE_MIB = 60, 2
UNDER_WAY_MIB = OF_EACH_AWKWARD + STEADY * PAGE_MIB + 16
IS_INSTRUMENTED = re.search(r"/(asan|tsan|ubsan)", os.environ.get("HBMVIEW", ""))
SETTLE_SECONDS = 120
BUSY_SHARE_MOST = 0.01  # of what well-behaved clients ask


async def ask_all(soak):
    steady = [clients.steady(soak, "127.0.0.1") for _ in range(STEADY)]
    followers = [clients.follower(soak, "127.0.0.1") for _ in range(FOLLOWERS)]
    awkward = [clients.awkward(soak, f"127.0.0.{2 + n % 16}", behave)
               for behave in clients.AWKWARD for n in range(OF_EACH_AWKWARD)]
    await asyncio.gather(*steady, *followers, *awkward)


async def run(port, stable, moving, seconds, seed):
    soak = clients.Soak(port, stable, moving, asyncio.get_running_loop().time() + seconds, seed)
    await ask_all(soak)
    return soak.tally


def settled(pid, before):
    """Whether descriptors come back to what they were, once everybody has gone."""
    ends = time.monotonic() + SETTLE_SECONDS
    while (now := sample(pid)[1]) > before + DESCRIPTORS_SLACK and time.monotonic() < ends:
        time.sleep(0.2)
    return now <= before + DESCRIPTORS_SLACK, now


def faults(tally, watch, at_rest, before):
    """What must not be, in words."""
    yield from tally.wrong[:20]
    if len(tally.wrong) > 20:
        yield f"and {len(tally.wrong) - 20} more"
    yield from faults_of_room(tally)
    yield from faults_of_memory(watch)
    if not at_rest[0]:
        yield f"{at_rest[1]} descriptors are open after everybody has gone, {before} before"


def faults_of_room(tally):
    """Nobody is kept out, whatever the awkward ones do."""
    if not tally.seconds:
        yield "no well-behaved client was answered"
    for kind in clients.ARE_ANSWERED:
        if tally.refused[kind]:
            yield f"{tally.refused[kind]} connections of {kind} clients were closed without an answer"
    if tally.busy > tally.asked * BUSY_SHARE_MOST:
        yield f"{tally.busy} of {tally.asked} answers to well-behaved clients are 503"


def faults_of_memory(watch):
    """A sanitizer keeps what is freed: with one there is none."""
    if IS_INSTRUMENTED:
        return
    most = CACHE_MIB + PROGRAM_MIB + UNDER_WAY_MIB
    if watch.most(1, 0, 1) >> 20 > most:
        yield f"{watch.most(1, 0, 1) >> 20} MiB resident, {most} at most are due"
    middle, end = watch.most(1, 1 / 3, 2 / 3), watch.most(1, 2 / 3, 1)
    if end > middle * 1.1 + GROWTH_SLACK:
        yield f"memory grows: at most {middle >> 20} MiB in the second third, {end >> 20} MiB in the last"


def figures(tally, watch, changes, seconds):
    times = sorted(tally.seconds) or [0]
    percentile = lambda share: times[min(int(len(times) * share), len(times) - 1)] * 1000
    awkward = OF_EACH_AWKWARD * len(clients.AWKWARD)
    yield f"{seconds} s, {STEADY + FOLLOWERS} well-behaved, {awkward} awkward clients, {changes} changes of files"
    statuses = ", ".join(f"{n} of {status}" for status, n in sorted(tally.statuses.items()))
    yield f"{sum(tally.statuses.values())} answers: {statuses}"
    yield "closed without one: " + ", ".join(f"{n} {kind}" for kind, n in sorted(tally.refused.items()))
    yield f"p50 {percentile(0.5):.0f} ms, p99 {percentile(0.99):.0f} ms of {len(times)}; {tally.partial} bodies partial"
    memory, descriptors, threads = (watch.most(column, 0, 1) for column in (1, 2, 3))
    yield f"at most {memory >> 20} MiB resident, {descriptors} descriptors, {threads} threads"


def soak(seconds, seed):
    with tempfile.TemporaryDirectory(prefix="hbmview-soak-") as root:
        logdir, aside = pathlib.Path(root, "logdir"), pathlib.Path(root, "aside")
        aside.mkdir()
        shutil.copytree(FIXTURES / "logdir", logdir)
        stable = expected.answers_of_stable(logdir)
        moving = {}
        for name in MOVING:
            moving.update(expected.answers_of_moving(name, VERSIONS))
        with Server(f"--cache_mib={CACHE_MIB}", logdir=logdir) as server:
            before = sample(server.process.pid)[1]
            with (MovingSessions(logdir, aside, MOVING, VERSIONS, seed) as work,
                  ProcessWatch(server.process.pid) as watch):
                tally = asyncio.run(run(server.port, stable, moving, seconds, seed))
            wrong = list(faults(tally, watch, settled(server.process.pid, before), before))
    print("\n".join(figures(tally, watch, work.changes, seconds)))
    for fault in wrong:
        print(f"FAULT {fault}")
    print(f"{0 if wrong else 1} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:3]]
    sys.exit(soak(*(numbers + [120, 1][len(numbers):])))
