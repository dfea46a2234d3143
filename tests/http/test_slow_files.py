"""A log directory on a slow network file system: few calls, side by side, and none before the server listens."""
import unittest

from log_folders import folder, xplane
from server_fixture import Server
from slow_files import SlowFiles

SESSIONS = 30
HOSTS = 16


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

    def test_the_hosts_of_a_session_are_read_side_by_side(self):
        with run_of(1, HOSTS) as root, SlowFiles(root, wait_ms=20) as slow:
            with Server(logdir=root, environment=slow.environment) as server:
                self.assertEqual(len(server.get("/api/v1/modules", {"session": "s000"}).json()["hosts"]), HOSTS)
                self.assertGreaterEqual(slow.read().most_at_once, 4, slow.read())


if __name__ == "__main__":
    unittest.main()
