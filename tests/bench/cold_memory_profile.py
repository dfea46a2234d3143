#!/usr/bin/env python3
"""The first answer about a memory profile, in terms of compressing its file: cold_memory_profile.py [FILE]

    gzip -1 -c FILE  |  fresh hbmview: one request  |  fresh xprof-rs: one request  |  gzip -1 ...

Whatever one does, the others do next. Printed are medians and their ratio to gzip's, of the time on the clock and of
the processor's, which says more on a busy machine. FILE: a *.xplane.pb with memory events. Without it TensorFlow makes
145,000 events in 24 MB (TF_VENV, as for scripts/make-bench-inputs).
XPROF_RS: the program to measure beside ours; without it that row is left out.
"""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import timed_server  # noqa: E402
import venvs  # noqa: E402
from timed_server import REPO, TimedServer, query  # noqa: E402

TRAINING_STEPS = 154
REPEATS = 15
XPROF_REPLY = "XProf's reply"


def events_file():
    file = REPO / "build" / "bench-inputs" / "events_24mb" / "vm.xplane.pb"
    if not file.exists():
        python = venvs.python("TF_VENV", REPO / "build" / "venv-tf", ["tensorflow-cpu"])
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(__file__).with_name("tf_memory_events.py")
            subprocess.run([python, str(program), folder, str(TRAINING_STEPS)], check=True, stdout=subprocess.DEVNULL)
            file.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(next(pathlib.Path(folder).rglob("*.xplane.pb")), file)
    return file


class Times:
    """Milliseconds of one kind of work, trial by trial."""

    def __init__(self):
        self.wall, self.cpu = [], []

    def add(self, wall_ms, cpu_ms):
        self.wall.append(wall_ms)
        self.cpu.append(cpu_ms)


def compress(file, times):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(["gzip", "-1", "-c", str(file)], check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    times.add(wall * 1e3, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3)


@contextlib.contextmanager
def xprof_rs(program, logdir):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    with TimedServer([program, "--logdir", str(logdir), "--port", str(port)], subprocess.DEVNULL) as server:
        while server.process.poll() is None and server.connection is None:
            with contextlib.suppress(OSError):
                server.is_listening_on(port)
        yield server


def ask(server, path, times):
    before = timed_server.cpu_ms_of(server.process.pid)
    answer = server.get(path)
    times.add(answer.ms, timed_server.cpu_ms_of(server.process.pid) - before)
    return answer.body


def peaks_of(body):
    memories = json.loads(body)["memoryProfilePerAllocator"]
    return {name: memory["profileSummary"]["peakStats"] for name, memory in memories.items()}


def measure(file, repeats=REPEATS):
    """{work: Times}, with "gzip -1" first."""
    peer, file = os.environ.get("XPROF_RS"), pathlib.Path(file).resolve()
    host = file.name.removesuffix(".xplane.pb")
    paths = {XPROF_REPLY: query("/data/plugin/profile/data", run="events", tag="memory_profile", host=host),
             "overview": query("/api/v1/memory_profile", session="events"),
             "timeline": query("/api/v1/memory_profile/timeline", session="events", buckets=1000)}
    found, bodies = {work: Times() for work in ["gzip -1", *paths, *(["xprof-rs"] if peer else [])]}, {}
    with tempfile.TemporaryDirectory() as logdir:
        timed_server.link_or_copy(file, pathlib.Path(logdir) / "plugins" / "profile" / "events" / file.name)
        timed_server.read_through(file)
        for _ in range(repeats):
            compress(file, found["gzip -1"])
            for work, path in paths.items():
                with timed_server.hbmview(logdir) as server:
                    bodies[work] = ask(server, path, found[work])
            if peer:
                with xprof_rs(peer, logdir) as server:
                    bodies["xprof-rs"] = ask(server, paths[XPROF_REPLY], found["xprof-rs"])
    if peer and peaks_of(bodies["xprof-rs"]) != peaks_of(bodies[XPROF_REPLY]):
        raise SystemExit("the memory profiles differ")
    return found


def main():
    file = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else events_file()
    found = measure(file)
    gzip = found["gzip -1"]
    print(f"{file.stat().st_size / 1e6:.1f} MB")
    print(f"{'':<16} {'ms':>8} {'x gzip':>7} {'cpu ms':>8} {'x gzip':>7}")
    for work, times in found.items():
        wall, cpu = statistics.median(times.wall), statistics.median(times.cpu)
        print(f"{work:<16} {wall:>8.1f} {wall / statistics.median(gzip.wall):>7.3f} "
              f"{cpu:>8.1f} {cpu / statistics.median(gzip.cpu):>7.3f}")
    print(timed_server.machine())


if __name__ == "__main__":
    main()
