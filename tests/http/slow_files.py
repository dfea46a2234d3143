"""A folder as if it lay on a slow network file system: with slow_calls.c loaded into the program.

    with SlowFiles(folder, wait_ms=50) as slow:
        with Server(logdir=folder, environment=slow.environment): ...
        slow.read()          # Calls(calls, most_at_once)
        slow.slow_reads(ms)  # from now on each read takes so much more
"""
import collections
import os
import pathlib
import struct
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).with_name("slow_calls.c")
Calls = collections.namedtuple("Calls", "calls most_at_once")


class SlowFiles:
    def __init__(self, folder, wait_ms):
        self.slow_folder, self.wait_ms = folder, wait_ms

    def __enter__(self):
        self.made = tempfile.TemporaryDirectory(prefix="hbmview-slow-")
        library, self.counts = pathlib.Path(self.made.name, "slow.so"), pathlib.Path(self.made.name, "counts")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self.counts.write_bytes(bytes(32))
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "SLOW_COUNTS": str(self.counts),
                            "SLOW_FOLDER": str(self.slow_folder), "SLOW_MS": str(self.wait_ms),
                            "ASAN_OPTIONS": "verify_asan_link_order=0",
                            # A server that is stopped amid a call of a minute does not wait for it (end_soon).
                            "TSAN_OPTIONS": "report_thread_leaks=0"}
        return self

    def __exit__(self, *_):
        self.made.cleanup()

    def read(self):
        calls, _, most, _ = struct.unpack("=4Q", self.counts.read_bytes())
        return Calls(calls, most)

    def under_way(self):
        return struct.unpack("=4Q", self.counts.read_bytes())[1]

    def slow_reads(self, ms):
        with self.counts.open("r+b") as counts:
            counts.seek(24)
            counts.write(struct.pack("=Q", ms))
