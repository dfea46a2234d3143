"""What the server takes while it is soaked: resident memory and descriptors, by the second.

    with ProcessWatch(pid) as watch: ...
    watch.samples       # [(seconds since the start, resident bytes, open descriptors, threads)]
"""
import os
import re
import threading
import time

SAMPLE_SECONDS = 0.5


def sample(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        text = status.read()
    number = lambda name: int(re.search(rf"^{name}:\s+(\d+)", text, re.M).group(1))
    return number("VmRSS") << 10, len(os.listdir(f"/proc/{pid}/fd")), number("Threads")


class ProcessWatch:
    def __init__(self, pid):
        self.pid, self.samples, self.done = pid, [], threading.Event()

    def __enter__(self):
        self.begun = time.monotonic()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()

    def work(self):
        while not self.done.wait(SAMPLE_SECONDS):
            self.samples.append((time.monotonic() - self.begun, *sample(self.pid)))

    def most(self, column, begin, end):
        """The largest value between two fractions of the time: column 1 memory, 2 descriptors, 3 threads."""
        all_of_it = self.samples[int(len(self.samples) * begin):max(int(len(self.samples) * end), 1)]
        return max(one[column] for one in all_of_it)
