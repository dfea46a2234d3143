"""What is new while the server runs: events, their resumption, and how many may listen."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from bucket_server import BucketServer
from event_stream import EventStream
from log_folders import folder, xplane
from server_fixture import FIXTURES, Server, program

DEVICE_MEMORY, DUMP = FIXTURES / "device_memory", FIXTURES / "xla_dump"
NO_INOTIFY = """
#include <errno.h>
int inotify_init1(int flags) { (void)flags; errno = EMFILE; return -1; }
"""


def names(items):
    return [item["name"] for item in items]


def profiles(root):
    return root / "plugins" / "profile"


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def list_version(server):
    return server.get("/api/v1/sessions").json()["version"]


class Watched(unittest.TestCase):
    """One session at first, "a"; `events` listens from before the first change."""
    arguments, environment = (), None

    def setUp(self):
        self.profile = xplane("v5e_matmul")
        self.root = self.enterContext(folder({"a/h0.xplane.pb": self.profile}))
        self.server = self.enterContext(Server(*self.arguments, logdir=self.root, environment=self.environment))
        self.events = self.enterContext(EventStream(self.server))
        self.hello = self.events.next()

    def enterContext(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def add(self, session):
        write(profiles(self.root) / session / "h0.xplane.pb", self.profile)
        return self.events.until(lambda data: session in names(data["added"]))


class News(Watched):
    def test_the_greeting_is_of_the_list(self):
        self.assertEqual(self.hello.name, "hello")
        self.assertEqual(self.hello.data["version"], list_version(self.server))
        self.assertEqual(self.hello.data["heartbeat_s"], 15)
        self.assertEqual(self.events.headers["Content-Type"], "text/event-stream")
        self.assertEqual(self.events.headers["Cache-Control"], "no-cache")
        self.assertIsNone(self.events.headers["ETag"])

    def test_a_session_appears_when_it_is_complete(self):
        path = profiles(self.root) / "b" / "h0.xplane.pb"
        write(path, self.profile[:len(self.profile) // 2])
        event = self.events.until(lambda data: "b" in data["pending"])
        self.assertEqual(event.data["added"], [])
        with open(path, "ab") as file:
            file.write(self.profile[len(self.profile) // 2:])
        event = self.events.until(lambda data: data["added"])
        self.assertEqual(names(event.data["added"]), ["b"])
        self.assertEqual(event.data["pending"], [])
        self.assertEqual(event.data["version"], list_version(self.server))

    def test_files_come_are_replaced_and_go(self):
        session = profiles(self.root) / "a"
        write(session / "h1.xplane.pb", self.profile)
        event = self.events.until(lambda data: any(item["files_added"] for item in data["changed"]))
        self.assertEqual(names(event.data["changed"]), ["a"])
        write(session / "new", xplane("v5e_padded"))
        os.replace(session / "new", session / "h0.xplane.pb")
        event = self.events.until(lambda data: data["changed"])
        self.assertEqual([(item["files_added"], item["files_changed"]) for item in event.data["changed"]], [(0, 1)])
        shutil.rmtree(session)
        self.events.until(lambda data: names(data["removed"]) == ["a"])
        self.assertEqual(self.server.get("/api/v1/sessions").json()["sessions"], [])

    def test_a_dump_and_memory_profiles(self):
        source = next(path for path in sorted(DEVICE_MEMORY.rglob("*.prof*")))
        write(self.root / "memory.prof", source.read_bytes())
        event = self.events.until(lambda data: data["added"])
        self.assertEqual([(item["name"], item["device_memory"]) for item in event.data["added"]],
                         [("memory.prof", True)])
        module = next(path for path in sorted(DUMP.rglob("*after_optimizations.hlo.pb*")))
        write(self.root / "dump" / module.name, module.read_bytes())
        self.events.until(lambda data: names(data["added"]) == ["dump"])
        write(profiles(self.root) / "a" / "memory.prof", source.read_bytes())
        event = self.events.until(lambda data: data["changed"])
        self.assertEqual(names(event.data["changed"]), ["a"])

    def test_the_versions_of_sessions_tell_which_changed(self):
        def versions():
            return {one["name"]: one["version"] for one in self.server.get("/api/v1/sessions").json()["sessions"]}
        self.add("b")
        before = versions()
        write(profiles(self.root) / "a" / "notes.txt", b"no profile")
        self.assertEqual(versions(), before)
        write(profiles(self.root) / "a" / "h0.xplane.pb", xplane("v5e_padded"))
        self.assertNotEqual(versions()["a"], before["a"])
        self.assertEqual(versions()["b"], before["b"])


class NewsOfAnotherFolder(Watched):
    """A sandbox holds the folder that stood there at the start (test_sandbox.py)."""
    arguments = ("--no_sandbox",)

    def test_a_log_directory_that_goes_and_comes_back(self):
        aside = pathlib.Path(str(self.root) + ".aside")
        os.rename(self.root, aside)
        shutil.copytree(aside, self.root)
        self.addCleanup(shutil.rmtree, aside)
        self.add("b")


class Resumption(Watched):
    def test_what_was_missed_comes_again(self):
        first = self.add("b")
        missed = self.add("c")
        with EventStream(self.server, {"Last-Event-ID": first.id}) as later:
            self.assertEqual(later.next().name, "hello")
            event = later.next()
            self.assertEqual((event.id, event.data), (missed.id, missed.data))
        with EventStream(self.server, last_event_id=self.hello.id) as later:
            self.assertEqual([later.next().id for _ in range(3)], [None, first.id, missed.id])

    def test_what_happened_while_nobody_listened(self):
        last = self.add("b")
        self.events.close()
        write(profiles(self.root) / "c" / "h0.xplane.pb", self.profile)
        with EventStream(self.server, {"Last-Event-ID": last.id}) as later:
            self.assertEqual(later.next().name, "hello")
            later.until(lambda data: names(data["added"]) == ["c"])

    def test_an_id_of_another_run_asks_for_the_list(self):
        run, _, number = self.hello.id.partition("-")
        for foreign in ("1-5", "x", run + "-" + str(int(number) + 1000)):
            with EventStream(self.server, {"Last-Event-ID": foreign}) as later:
                event = later.next()
                self.assertEqual((event.name, event.data["version"]), ("reload", list_version(self.server)))
                self.assertEqual(event.id, self.hello.id)


class Listeners(Watched):
    def test_a_heartbeat(self):
        with EventStream(self.server, heartbeat=1) as quiet:
            self.assertEqual(quiet.next().data["heartbeat_s"], 1)
            self.assertEqual([quiet.next("comment").name for _ in range(2)], ["comment", "comment"])
        for wrong in ("0", "301", "x"):
            self.assertEqual(self.server.get("/api/v1/events", {"heartbeat": wrong}).status, 400)

    def test_so_many_and_no_more(self):
        others = [self.enterContext(EventStream(self.server)) for _ in range(63)]
        for other in others:
            other.next("hello")
        refused = self.server.get("/api/v1/events")
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (503, "too_many_listeners"))
        self.assertIn("64", refused.json()["error"]["message"])
        self.assertEqual(self.server.get("/api/v1/sessions").status, 200)
        self.add("b")
        for other in others:
            other.until(lambda data: names(data["added"]) == ["b"])
        others[0].close()
        while True:  # its place is free once the server has seen that it went
            with EventStream(self.server) as late:
                if late.status == 200:
                    self.assertEqual(late.next().name, "hello")
                    break
            self.assertEqual(late.status, 503)

    def test_others_find_room_when_two_addresses_have_all_they_may(self):
        addresses = ["127.0.0.2"] * 70 + ["127.0.0.3"] * 70
        greedy = [self.enterContext(EventStream(self.server, address=address)) for address in addresses]
        self.assertEqual({stream.status for stream in greedy}, {200, 503})
        with EventStream(self.server) as late:
            self.assertEqual((late.status, late.next().name), (200, "hello"))

    def test_one_that_reads_nothing_delays_nobody(self):
        idle = EventStream(self.server)  # its thread, which reads, is never started
        for session in ("b", "c", "d"):
            self.add(session)
        idle.close()

    def test_methods(self):
        self.assertEqual(self.server.request("POST", "/api/v1/events").status, 405)
        answer = self.server.request("HEAD", "/api/v1/events")
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))

    def test_the_server_ends_the_stream_when_it_stops(self):
        self.assertEqual(self.server.stop(), 0)
        self.assertEqual(self.events.next().name, "end")


class Access(unittest.TestCase):
    def test_the_token(self):
        with Server("--bind_all") as server:
            self.assertEqual(server.get("/api/v1/events").status, 403)
            token = server.url.partition("token=")[2]
            with EventStream(server, token=token) as events:
                self.assertEqual(events.next().name, "hello")

    def test_the_sample_has_no_news(self):
        with Server(logdir=None) as server, EventStream(server, heartbeat=1) as events:
            self.assertEqual(events.next().name, "hello")
            self.assertEqual(events.next("comment").name, "comment")


class Polling(Watched):
    """Where the system does not tell of changes."""

    def setUp(self):
        place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (place / "no_inotify.c").write_text(NO_INOTIFY)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", place / "no_inotify.so",
                        place / "no_inotify.c"], check=True)
        self.environment = {**os.environ, "LD_PRELOAD": str(place / "no_inotify.so"),
                            "ASAN_OPTIONS": "verify_asan_link_order=0"}
        super().setUp()

    def test_a_session_appears(self):
        self.assertEqual(self.hello.data["watching"], "polling")
        self.add("b")


class Bucket(unittest.TestCase):
    def test_watch_tells_what_it_tells_of_the_disk(self):
        def told(place, environment=None):
            finished = subprocess.run([program(), "watch", "--once", "--format=json", place], env=environment,
                                      capture_output=True, text=True, timeout=120, check=True)
            return [{**json.loads(line), "time": None} for line in finished.stdout.splitlines()]
        here = told(FIXTURES / "logdir")
        self.assertGreater(len(here), 20)
        with BucketServer(FIXTURES / "logdir") as bucket:
            for scheme in ("s3", "gs"):
                there = told(bucket.url(scheme), {**os.environ, **bucket.environment(scheme)})
                self.assertEqual(there, here)

    def test_a_session_appears(self):
        with tempfile.TemporaryDirectory() as place:
            root = pathlib.Path(place)
            write(profiles(root) / "a" / "h0.xplane.pb", xplane("v5e_matmul"))
            with BucketServer(root) as bucket:
                environment = {**os.environ, **bucket.environment("s3")}
                with Server(logdir=bucket.url("s3"), environment=environment) as server, EventStream(server) as events:
                    self.assertEqual(events.next().data["watching"], "listing")
                    write(profiles(root) / "b" / "h0.xplane.pb", xplane("v5e_padded"))
                    events.until(lambda data: names(data["added"]) == ["b"])
