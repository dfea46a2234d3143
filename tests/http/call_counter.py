"""Counts what a program asks of the file system: with count_calls.c loaded into it.

    with CallCounter() as counter:
        with Server(logdir=root, environment=counter.environment):
            before = counter.read()
            ...
            counter.read() - before      # Calls(looks, folders, files)
"""
import os
import pathlib
import struct
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).with_name("count_calls.c")


class Calls:
    def __init__(self, looks, folders, files):
        self.looks, self.folders, self.files = looks, folders, files

    def __sub__(self, other):
        return Calls(self.looks - other.looks, self.folders - other.folders, self.files - other.files)

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __repr__(self):
        return f"{self.looks} looks, {self.folders} folders, {self.files} files"


class CallCounter:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="hbmview-calls-")
        library, self.counts = pathlib.Path(self.folder.name, "count.so"), pathlib.Path(self.folder.name, "counts")
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self.counts.write_bytes(bytes(24))
        self.environment = {**os.environ, "LD_PRELOAD": str(library), "COUNT_CALLS": str(self.counts),
                            "ASAN_OPTIONS": "verify_asan_link_order=0"}
        return self

    def __exit__(self, kind, value, trace):
        self.folder.cleanup()

    def read(self):
        return Calls(*struct.unpack("=3Q", self.counts.read_bytes()))
