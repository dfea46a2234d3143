"""A log directory on a slow network file system: few calls, side by side, and none before the server listens."""
import contextlib
import http.client
import os
import pathlib
import select
import socket
import time
import unittest

from log_folders import folder, xplane
from server_fixture import FIXTURES, Server
from slow_files import SlowFiles

SESSIONS = 30
HOSTS = 16
LOADING_PER_ADDRESS = 64  # half of LOADING_MAX and of LOADING_LONG_MAX (http_room.c)
MESSAGE = (FIXTURES / "oom_messages" / "v5e_readme_oom.txt").read_bytes()
QUESTION = "/api/v1/memory_profile/ops"


def run_of(sessions, hosts):
    data = xplane("tf_tiny")
    return folder({f"s{i:03}/vm-{k:02}.xplane.pb": data for i in range(sessions) for k in range(hosts)})


class SlowPlaces(unittest.TestCase):
    def test_the_server_listens_before_the_first_call_has_ended(self):
        # Each call takes a minute: a server that waited for one would not be ready in time.
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=60000) as slow:
            server = Server(logdir=root, environment=slow.environment)
            server.start()
            self.assertEqual(server.get("/api/v1/devices").status, 200)
            self.assertEqual(server.stop(), 0)

    def test_listing_sessions_takes_few_calls(self):
        with run_of(SESSIONS, 1) as root, SlowFiles(root, wait_ms=1) as slow:
            with Server(logdir=root, environment=slow.environment) as server:
                self.assertEqual(len(server.get("/api/v1/sessions").json()["sessions"]), SESSIONS)
                calls = slow.read()
                # a folder: opened, looked at; a file: looked at; live.c may have listed them once as well
                self.assertLessEqual(calls.calls, 2 * 3 * SESSIONS + 40, calls)

    def test_whoever_closes_its_half_while_it_waits_is_answered(self):
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=5) as slow:
            with Server(logdir=root, environment=slow.environment) as server, contextlib.ExitStack() as others:
                for _ in range(8):  # some in each loop: one that is alone there was answered always
                    others.enter_context(socket.create_connection(("127.0.0.1", server.port)))
                for path in ("/api/v1/sessions", "/api/v1/session?session=s000", QUESTION + "?session=s000"):
                    asker = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
                    asker.request("GET", path)
                    asker.sock.shutdown(socket.SHUT_WR)
                    answer = asker.getresponse()
                    self.assertEqual((answer.status, answer.read()[:1]), (200, b"{"), path)
                    asker.close()

    def test_whoever_closes_its_half_is_told_when_that_is_taken_for_gone(self):
        """After UNDER_WAY_GRACE_MS it is, though it may still wait: no address says that nothing is there."""
        profile = "/data?run=s000&tag=memory_profile&host=vm-00"
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=0) as slow:
            with Server(logdir=root, environment=slow.environment) as server:
                self.assertEqual(server.get("/api/v1/session", {"session": "s000"}).status, 200)
                slow.slow_reads(5000)
                for path in (profile, QUESTION + "?session=s000"):
                    asker = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
                    asker.request("GET", path)
                    asker.sock.shutdown(socket.SHUT_WR)
                    self.assertEqual(asker.getresponse().status, 503, path)
                    asker.close()

    def test_the_hosts_of_a_session_are_read_side_by_side(self):
        with run_of(1, HOSTS) as root, SlowFiles(root, wait_ms=20) as slow:
            with Server(logdir=root, environment=slow.environment) as server:
                self.assertEqual(len(server.get("/api/v1/modules", {"session": "s000"}).json()["hosts"]), HOSTS)
                self.assertGreaterEqual(slow.read().most_at_once, 4, slow.read())


class SlowLoads(unittest.TestCase):
    """Each read of some files takes a minute: what is asked of another one does not wait for them."""

    def test_what_is_quick_does_not_wait_for_what_is_slow(self):
        slow_names = [f"slow{i}" for i in range(40)]  # a client's own, more than it may have of loads that are short
        data = xplane("tf_tiny")
        with folder({f"{name}/vm.xplane.pb": data for name in [*slow_names, "fast"]}) as root, \
             SlowFiles(root / "plugins" / "profile" / "slow", wait_ms=0) as slow, \
             Server("--threads=4", logdir=root, environment=slow.environment) as server:
            for name in [*slow_names, "fast"]:  # the indexes are known, the profiles are not
                self.assertEqual(server.get("/api/v1/session", {"session": name}).status, 200)
            slow.slow_reads(60000)
            askers = [self.ask(server, name) for name in slow_names]
            self.addCleanup(lambda: [asker.close() for asker in askers])
            deadline = time.monotonic() + 50
            while slow.under_way() < len(slow_names):
                self.assertLess(time.monotonic(), deadline, "not every slow file is being read")
                time.sleep(0.01)
            self.assertEqual(server.get(QUESTION, {"session": "fast"}).status, 200)
            self.assertEqual(server.request("POST", "/api/v1/explain?session=fast", body=MESSAGE).status, 200)
            self.assertEqual(slow.under_way(), len(slow_names))

    def test_what_is_urgent_has_workers_of_its_own(self):
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=0) as slow, \
             Server(logdir=root, environment=slow.environment) as server:
            self.assertEqual(server.get("/api/v1/session", {"session": "s000"}).status, 200)  # its profile is not known
            slow.slow_reads(60000)
            askers = self.ask_more_than_may_load(server)
            self.assertEqual(server.request("POST", "/api/v1/explain", body=b"no message").status, 404)
            answered, _, _ = select.select([asker.sock for asker in askers], [], [], 0)
            self.assertEqual(answered, [])

    def test_the_page_is_answered_while_an_address_has_all_its_workers_busy(self):
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=60000) as slow, \
             Server(logdir=root, environment=slow.environment) as server:
            for path in ("/", "/healthz"):
                self.assertEqual(server.get(path).status, 200)
            self.ask_more_than_may_load(server)
            for path in ("/", "/healthz", "/api/v1/devices"):
                self.assertEqual(server.get(path).status, 200)

    def test_whoever_has_looked_in_vain_waits_for_a_place(self):
        with run_of(1, 1) as root, SlowFiles(root, wait_ms=0) as slow, \
             Server(logdir=root, environment=slow.environment) as server:
            self.assertEqual(server.get("/api/v1/session", {"session": "s000"}).status, 200)  # its profile is not known
            slow.slow_reads(60000)
            askers = self.ask_more_than_may_load(server)
            self.assertEqual(server.get("/api/v1/devices").status, 200)  # those that came before have looked by now
            answered, _, _ = select.select([asker.sock for asker in askers], [], [], 0)
            self.assertEqual(answered, [])

    def ask_more_than_may_load(self, server):
        askers = [self.ask(server, "s000") for _ in range(LOADING_PER_ADDRESS + 8)]
        self.addCleanup(lambda: [asker.close() for asker in askers])
        threads = pathlib.Path("/proc", str(server.process.pid), "task")
        deadline = time.monotonic() + 50
        while len(os.listdir(threads)) < LOADING_PER_ADDRESS:
            self.assertLess(time.monotonic(), deadline, "not every worker is busy")
            time.sleep(0.01)
        return askers

    def ask(self, server, session):
        asker = http.client.HTTPConnection("127.0.0.1", server.port)
        asker.request("GET", f"{QUESTION}?session={session}")
        return asker


if __name__ == "__main__":
    unittest.main()
