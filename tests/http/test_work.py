"""What is read for whom, and that nobody reads on for those who have gone."""
import contextlib
import pathlib
import re
import shutil
import ssl
import tempfile
import threading
import time
import unittest
import urllib.parse

from bucket_server import BucketServer
from test_storage import MODULES, PROFILES, serve

SECONDS = 30  # half of what the server waits for a bucket, which would end what nobody gave up
HELD, OTHER = "v5e_matmul", "v5e_padded"


def await_true(condition):
    end = time.monotonic() + SECONDS
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError("it did not come true")
        time.sleep(0.01)
    return value


class Asker:
    """A client that has asked and may hang up."""

    def __init__(self, server, path, query):
        self.target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        self.socket = server.connect()
        self.socket.sendall(f"GET {self.target} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.hang_up()

    def hang_up(self):
        """An encrypted connection says goodbye first, and does not wait for an answer."""
        if isinstance(self.socket, ssl.SSLSocket) and self.socket.fileno() >= 0:
            self.socket.setblocking(False)
            with contextlib.suppress(ssl.SSLWantReadError, OSError):
                self.socket.unwrap()
        self.socket.close()

    def status(self):
        self.socket.settimeout(SECONDS)
        return int(self.socket.recv(64).split()[1])


class Work(unittest.TestCase):
    def serve(self):
        return serve(self.bucket, "s3", "run", "--threads=1")

    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for session in (HELD, OTHER):
            shutil.copytree(PROFILES / session, folder / "run" / "plugins" / "profile" / session)
        self.bucket = self.enterContext(BucketServer(folder))
        self.held, self.waiting = threading.Event(), 0
        self.server = self.enterContext(self.serve())
        self.addCleanup(self.held.set)

    def hold(self, pattern):
        def fault(request):
            if re.search(pattern, urllib.parse.unquote(request.path + "?" + request.query)):
                self.waiting += 1
                self.held.wait(2 * SECONDS)
            return None

        self.bucket.fault = fault

    def rows(self):
        return self.server.get("/api/v1/work").json()["requests"]

    def row_of(self, asker):
        return next((row for row in self.rows() if row["request"] == asker.target), None)

    def ask(self, path, query):
        return self.enterContext(Asker(self.server, path, query))

    def ask_held(self, session=HELD):
        return self.ask("/api/v1/memory_view", {"session": session, "module": MODULES[session]})

    def view(self, session):
        return self.server.get("/api/v1/memory_view", {"session": session, "module": MODULES[session]})

    def test_nothing_is_under_way(self):
        self.assertEqual(self.server.get("/api/v1/work").json(), {"requests": []})

    def test_what_is_read_is_told(self):
        self.server.get("/api/v1/sessions")
        self.hold(f"/{HELD}/.*xplane")
        asker = self.ask_held()
        row = await_true(lambda: (row := self.row_of(asker)) and row["path"].endswith(".xplane.pb.gz") and row)
        self.assertTrue(row["path"].startswith(f"s3://bucket/run/plugins/profile/{HELD}/"), row)
        self.assertEqual((row["read_bytes"], row["listed_names"]), (0, 0))
        self.held.set()
        self.assertEqual(asker.status(), 200)
        self.assertEqual(self.rows(), [])

    def test_a_listing_is_told_by_its_names(self):
        self.bucket.page_size = 1
        self.hold("continuation-token=1")
        self.server = self.enterContext(serve(self.bucket, "s3", "run"))  # that knows no names yet
        asker = self.ask("/api/v1/sessions", {})
        row = await_true(lambda: (row := self.row_of(asker)) and row["listed_names"] and row)
        self.assertEqual((row["listed_names"], row["path"]), (1, "s3://bucket/run/"))

    def test_who_hangs_up_ends_the_load(self):
        self.server.get("/api/v1/sessions")
        self.hold(f"/{HELD}/.*xplane")
        asker = self.ask_held()
        await_true(lambda: self.waiting)
        asker.hang_up()
        await_true(lambda: not self.rows())  # while the bucket still says nothing
        self.held.set()
        self.assertEqual(self.view(HELD).status, 200)

    def test_a_load_goes_on_for_others_who_wait(self):
        self.server.get("/api/v1/sessions")
        self.hold(f"/{HELD}/.*xplane")
        first = self.ask_held()
        await_true(lambda: self.waiting)
        asked = self.waiting
        second = self.ask_held()
        await_true(lambda: len(self.rows()) == 2)
        first.hang_up()
        third = self.ask_held()
        third.hang_up()
        await_true(lambda: len(self.rows()) == 2)  # the third alone is gone: the first still loads
        self.assertEqual(self.waiting, asked)
        self.held.set()
        self.assertEqual(second.status(), 200)

    def test_the_others_see_what_the_first_reads(self):
        self.server.get("/api/v1/sessions")
        self.hold(f"/{HELD}/.*xplane")
        self.ask_held()
        await_true(lambda: self.waiting)
        second = self.ask_held()
        await_true(lambda: (row := self.row_of(second)) and "xplane" in row["path"])

    def test_a_session_that_hangs_holds_up_no_other(self):
        self.server.get("/api/v1/sessions")
        self.hold(f"/{HELD}/.*xplane")
        askers = [self.ask_held() for _ in range(4)]
        await_true(lambda: self.waiting)
        self.assertEqual(self.view(OTHER).status, 200)
        for asker in askers:
            asker.hang_up()

    def test_the_server_stops_at_once(self):
        self.hold("xplane")
        asker = self.ask("/api/v1/sessions", {})
        self.assertEqual(asker.status(), 200)
        self.ask_held()
        await_true(lambda: self.waiting)
        self.assertEqual(self.server.stop(), 0)  # a load that would never end


class Targets(unittest.TestCase):
    def test_no_token_is_told(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        shutil.copytree(PROFILES / HELD, pathlib.Path(folder, "run", HELD))
        held = threading.Event()
        self.addCleanup(held.set)
        with BucketServer(folder) as bucket, serve(bucket, "s3", "run", "--bind_all") as server:
            bucket.fault = lambda request: held.wait(SECONDS) and None
            token = urllib.parse.urlsplit(server.url).query
            asker = self.enterContext(Asker(server, "/api/v1/sessions", dict(urllib.parse.parse_qsl(token))))
            told = await_true(lambda: server.get(f"/api/v1/work?{token}").json()["requests"])
            self.assertEqual([row["request"] for row in told], ["/api/v1/sessions"])
            asker.hang_up()


if __name__ == "__main__":
    unittest.main()
