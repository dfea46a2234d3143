"""A log directory under work: sessions that come, are replaced, are cut short and go while they are asked for.

    with MovingSessions(logdir, aside) as moving:     # aside: a folder of the same file system
        ...                                           # a thread of its own works on logdir meanwhile
    moving.changes                                    # how often something changed

Every state that a session passes through is one of `versions`: whole folders, renamed into place at once. Only "cut" is
not: a file truncated where it lies, as by a copy that failed.
"""
import os
import pathlib
import random
import shutil
import threading
import time

LONG_AGO = 1735689600  # so that nothing is waited for as still being written
PAUSE_SECONDS = 0.05


class MovingSessions:
    def __init__(self, logdir, aside, names, versions, seed):
        self.profiles, self.aside = pathlib.Path(logdir, "plugins", "profile"), pathlib.Path(aside)
        self.names, self.versions = names, versions
        self.random = random.Random(seed)
        self.done = threading.Event()
        self.changes = 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def work(self):
        while not self.done.is_set():
            name = self.random.choice(self.names)
            self.random.choice((self.replace, self.replace, self.cut, self.remove))(self.profiles / name)
            self.changes += 1
            time.sleep(PAUSE_SECONDS)

    def remove(self, folder):
        if folder.exists():
            gone = self.aside / f"gone-{self.changes}"
            folder.rename(gone)
            shutil.rmtree(gone)

    def replace(self, folder):
        made = self.aside / f"made-{self.changes}"
        shutil.copytree(self.random.choice(self.versions), made)
        for file in made.iterdir():
            os.utime(file, (LONG_AGO, LONG_AGO))
        self.remove(folder)
        made.rename(folder)

    def cut(self, folder):
        files = sorted(folder.glob("*")) if folder.exists() else []
        if files:
            file = self.random.choice(files)
            os.truncate(file, file.stat().st_size // 2)
