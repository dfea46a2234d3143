"""--memory_limit: the whole process stays below it, whatever is asked; what does not fit is said so."""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import resource
import socket
import tempfile
import threading
import time
import unittest

from log_folders import folder
from own_certificate import make_certificate
from profile_build import Profile
from server_fixture import INSTRUMENTED, Server
from test_memory_given_back import resident_bytes

LIMIT_MIB = 128
WHOLE = "memory_view?session=v5e_gpt_12layer_oom&module=jit_train_step%281%29&memory_space=0&x="
ASKED_LARGE = json.dumps({"asked": [f"{WHOLE}{i}" for i in range(1000)]}).encode()
SAVED_LARGE = "run=v5e_gpt_12layer_oom&tag=memory_viewer&module_name=jit_train_step(1)"
SAVED = "run=v5e_matmul&module_name=jit__lambda(1)"
HUGE_EVENTS, LARGE_EVENTS, LARGE_SESSIONS = 1500000, 100000, 8


def allocations(count):
    """A profile of so many equal events: 20 bytes each in the file, much more in memory."""
    profile = Profile()
    line = profile.host.line(timestamp_ns=5)
    profile.host.event(line, "MemoryAllocation", offset_ps=10, addr=1, allocation_bytes=8, bytes_allocated=8)
    line.events *= count
    return profile.bytes()


def sessions(files):
    return {f"{name}/host.xplane.pb": data for name, data in files.items()}


def slow_reader(server, request):
    """A connection that has asked, and takes a few kilobytes of its answer."""
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.settimeout(120)
    reader.connect(("127.0.0.1", server.port))
    reader.sendall(request)
    reader.recv(1, socket.MSG_PEEK)
    return reader


def reads_all(reader):
    """Whether it is all there."""
    answer = http.client.HTTPResponse(reader)
    try:
        answer.begin()
        return bool(answer.read())
    except (http.client.IncompleteRead, OSError):
        return False


def encrypted(server, address):
    """A connection that has shaken hands, and begun a request."""
    plain = socket.socket()
    plain.settimeout(120)
    plain.bind((address, 0))
    plain.connect(("127.0.0.1", server.port))
    connection = server.context.wrap_socket(plain, server_hostname="127.0.0.1")
    connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + 16000 * b"a")
    return connection


def counted_bytes(server):
    return server.get("/api/v1/server").json()["memory"]["counted_bytes"]


class Watch:
    """The most that the process takes, seen again and again."""

    def __init__(self, server):
        self.server, self.over, self.most = server, threading.Event(), 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def look(self):
        while not self.over.wait(0.01):
            self.most = max(self.most, resident_bytes(self.server))


def overview(server, session):
    return server.get("/api/v1/memory_profile/timeline", {"session": session, "buckets": 10})


@unittest.skipIf(INSTRUMENTED, "a sanitizer takes memory of its own")
class MemoryLimit(unittest.TestCase):
    def test_a_load_that_does_not_fit_is_refused_in_words_and_others_go_on(self):
        files = sessions({"huge": allocations(HUGE_EVENTS), "small": allocations(10)})
        limit = f"--memory_limit={LIMIT_MIB}"
        with folder(files) as root, Server(limit, logdir=root) as server, Watch(server) as watch:
            refused = overview(server, "huge")
            self.assertEqual(refused.status, 503, refused)
            self.assertEqual(refused.json()["error"]["code"], "out_of_memory")
            self.assertIn(f"{LIMIT_MIB} MiB of --memory_limit", refused.json()["error"]["message"])
            self.assertEqual(overview(server, "small").status, 200)
        self.assertLess(watch.most >> 20, LIMIT_MIB)

    def test_without_a_limit_it_fits(self):
        with folder(sessions({"huge": allocations(HUGE_EVENTS)})) as root, Server(logdir=root) as server:
            with Watch(server) as watch:
                self.assertEqual(overview(server, "huge").status, 200)
            self.assertGreater(watch.most >> 20, LIMIT_MIB)

    def test_the_cache_gives_way_to_what_is_loaded(self):
        names = [f"s{i}" for i in range(LARGE_SESSIONS)]
        files = sessions(dict.fromkeys(names, allocations(LARGE_EVENTS)))
        with folder(files) as root, Server(f"--memory_limit={LIMIT_MIB}", "--threads=4", logdir=root) as server:
            with Watch(server) as watch, concurrent.futures.ThreadPoolExecutor(4) as clients:
                answers = list(clients.map(lambda name: overview(server, name), names * 2))
            self.assertEqual([one.status for one in answers], [200] * len(answers))
            self.assertLess(watch.most >> 20, LIMIT_MIB)
            self.assertGreater(server.get("/api/v1/server").json()["cache"]["evictions"], 0)

    def test_bodies_take_a_share_of_it(self):
        with Server(f"--memory_limit={LIMIT_MIB}", logdir=None) as server, Watch(server) as watch:
            with concurrent.futures.ThreadPoolExecutor(12) as clients:
                ask = lambda _: server.request("POST", "/api/v1/explain", body=b" " * (15 << 20)).status
                statuses = set(clients.map(ask, range(24)))
            self.assertLessEqual(statuses, {404, 503})  # 404: no message in it
            self.assertLess(watch.most >> 20, LIMIT_MIB)

    def test_what_is_read_as_a_tree_counts(self):
        """15 MiB of JSON, which would take a gigabyte; as few bytes for each thing as can be."""
        bodies = {"strings": b'{"asked":[%s""]}' % (b'"",' * 5500000), "objects": b'{"a":[%s1]}' % (b"{}," * 5500000)}
        with Server(f"--memory_limit={LIMIT_MIB}") as server, Watch(server) as watch:
            for name, body in bodies.items():
                answer = server.request("POST", f"/api/v1/save?{SAVED}", body=body)
                self.assertIn(answer.status, (400, 503), (name, answer))
                self.assertEqual(server.get("/healthz").status, 200)
            self.assertEqual(server.request("POST", f"/api/v1/save?{SAVED}", body=b"").status, 200)
        self.assertLess(watch.most >> 20, LIMIT_MIB)

    def test_answers_that_nobody_reads_share_a_budget(self):
        """Eight pages of some 24 MB each, of which a quarter of the limit is kept for those who read slowly."""
        head = (f"POST /api/v1/save?{SAVED_LARGE} HTTP/1.1\r\nHost: localhost\r\n"
                f"Content-Length: {len(ASKED_LARGE)}\r\n\r\n").encode()
        with Server("--memory_limit=512", "--cache_mib=8") as server, contextlib.ExitStack() as held:
            readers = [held.enter_context(slow_reader(server, head + ASKED_LARGE)) for _ in range(8)]
            heads = [reader.recv(16, socket.MSG_PEEK) for reader in readers]  # each has its answer before the next asks
            self.assertEqual(heads, [b"HTTP/1.1 200 OK\r"] * 8)
            deadline = time.monotonic() + 60
            while counted_bytes(server) >> 20 > 128 + 32:
                self.assertLess(time.monotonic(), deadline, counted_bytes(server) >> 20)
            whole = [reads_all(reader) for reader in readers]
        self.assertIn(True, whole)
        self.assertIn(False, whole)

    def test_who_says_nothing_makes_room(self):
        """Encrypted connections take 48 KiB each, which nobody counts: for 3000 there is no room within the limit."""
        with tempfile.TemporaryDirectory() as place:
            own = make_certificate(pathlib.Path(place))
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4000)), hard))
            with Server(f"--memory_limit={LIMIT_MIB}", tls=own) as server, contextlib.ExitStack() as held:
                with Watch(server) as watch:
                    for i in range(3000):
                        held.enter_context(encrypted(server, f"127.0.0.{2 + i % 3}"))
                    for path in ("/healthz", "/", "/api/v1/server"):
                        self.assertEqual(server.get(path).status, 200, path)
                self.assertLess(watch.most >> 20, LIMIT_MIB * 5 // 8)


class MemoryTold(unittest.TestCase):
    def test_the_server_says_what_it_takes_and_may(self):
        with Server(f"--memory_limit={LIMIT_MIB}", "--cache_mib=100") as server:
            memory = server.get("/api/v1/server").json()["memory"]
        self.assertEqual(memory["limit_bytes"], LIMIT_MIB << 20)
        self.assertEqual(memory["cache_limit_bytes"], LIMIT_MIB << 19)
        self.assertGreater(memory["resident_bytes"], memory["own_bytes"])
        self.assertGreater(memory["own_bytes"], 0)
        self.assertGreater(memory["counted_bytes"], 0)

    def test_without_a_limit_there_is_none(self):
        with Server("--cache_mib=7") as server:
            memory = server.get("/api/v1/server").json()["memory"]
        self.assertEqual((memory["limit_bytes"], memory["cache_limit_bytes"]), (None, 7 << 20))


if __name__ == "__main__":
    unittest.main()
