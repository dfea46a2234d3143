"""Starts a server under measurement and times its answers over one kept connection.

    with hbmview(logdir) as server:
        server.start_ms                          # from the start of the process to the line with its URL
        server.get("/api/v1/sessions").ms        # from the first byte sent to the last byte read
    server.peak_bytes                            # the most resident memory of its processes (VmHWM), when it ended
"""
import gzip
import http.client
import os
import pathlib
import re
import signal
import statistics
import subprocess
import time
import urllib.parse

REPO = pathlib.Path(__file__).resolve().parents[2]
START_SECONDS = 120
ANSWER_SECONDS = 300
STOP_SECONDS = 30
TICKS = os.sysconf("SC_CLK_TCK")


class Answer:
    """`body` is inflated, `raw` is as it came: XProf sends gzip to everybody."""

    def __init__(self, ms, response, raw):
        self.ms, self.headers, self.raw = ms, response.headers, raw
        self.body = gzip.decompress(raw) if response.headers.get("Content-Encoding") == "gzip" else raw


class TimedServer:
    def __init__(self, command, stderr):
        self.started = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True)
        self.connection = None
        self.peak_bytes = 0

    def is_listening_on(self, port):
        self.port = port
        self.start_ms = (time.perf_counter() - self.started) * 1e3
        self.connection = self.connect()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.peak_bytes = sum(peak_bytes_of(process) for process in tree_of(self.process.pid))
        if self.connection:
            self.connection.close()
        self.stop()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def connect(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_SECONDS)
        connection.connect()
        return connection

    def get(self, path, headers=None, expect=200, connection=None):
        """`headers` default to an identity reply."""
        connection = connection or self.connection
        start = time.perf_counter()
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        raw = response.read()
        ms = (time.perf_counter() - start) * 1e3
        if response.status != expect:
            raise SystemExit(f"{path}: {response.status}, not {expect}: {raw[:300]!r}")
        return Answer(ms, response, raw)


def tree_of(root):
    """The process and all its descendants."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def peak_bytes_of(process):
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    kib = re.search(r"VmHWM:\s*(\d+)", status)
    return int(kib.group(1)) * 1024 if kib else 0


def resident_bytes_of(process):
    """What the process holds now (VmRSS)."""
    kib = re.search(r"VmRSS:\s*(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())
    return int(kib.group(1)) * 1024


def cpu_ms_of(process):
    """In user and system mode, of all its threads: /proc counts in ticks, schedstat in nanoseconds."""
    tasks = pathlib.Path(f"/proc/{process}/task").glob("*/schedstat")
    live = sum(int(task.read_text().split()[0]) for task in tasks) / 1e6
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return max(live, (int(fields[11]) + int(fields[12])) * 1e3 / TICKS)


def hbmview(logdir, *options):
    program = REPO / os.environ.get("HBMVIEW", "build/hbmview")
    server = TimedServer([str(program), f"--logdir={logdir}", "--port=0", *options], None)
    for line in server.process.stdout:
        url = re.search(r"http://\S+", line)
        if url:
            return server.is_listening_on(urllib.parse.urlsplit(url.group(0)).port)
    raise SystemExit("hbmview printed no URL")


def query(path, **arguments):
    return f"{path}?{urllib.parse.urlencode(arguments)}"


def median_ms(answers):
    return statistics.median(answer.ms for answer in answers)


def read_through(path):
    """Brings a file into the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def gzip_ms(path):
    """How long `gzip -1` takes for a file: a yardstick for work that has to look at all its bytes."""
    start = time.perf_counter()
    subprocess.run(["gzip", "-1", "-c", str(path)], stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def link_or_copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        target.write_bytes(pathlib.Path(source).read_bytes())


def machine():
    system = os.uname()
    cpu = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return f"{len(os.sched_getaffinity(0))} cores, {cpu.group(1) if cpu else system.machine}, " \
           f"{system.sysname} {system.release}"


class AnalysisTimes:
    """The table of bench_analysis for one file."""

    def __init__(self, profile, repeats=31):
        program = REPO / os.environ.get("BENCH_ANALYSIS", "build/release/bench_analysis")
        self.table = subprocess.run([str(program), str(profile), str(repeats)], check=True, text=True,
                                    stdout=subprocess.PIPE).stdout
        rows = re.findall(r"^ *(\S.*?) +([\d.]+) +([\d.]+)$", self.table, re.M)
        self.ms = {name: float(ms) for name, ms, _ in rows}
        self.ratio = {name: float(ratio) for name, _, ratio in rows}
