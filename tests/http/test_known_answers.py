"""What is asked again and again is answered without a look at any file, and is never what was there before."""
import os
import pathlib
import shutil
import time
import unittest

from call_counter import CallCounter
from log_folders import folder, xplane
from server_fixture import Server

PROGRAM, OTHER = "v5e_arguments_oom", "v5e_gpt_scan"
PATIENCE_SECONDS = 50


class AskedAgain(unittest.TestCase):
    def setUp(self):
        self.root = self.enterContext(folder({"s/vm-0.xplane.pb": xplane(PROGRAM)}))
        self.place = next(pathlib.Path(self.root).rglob("vm-0.xplane.pb"))
        self.counter = self.enterContext(CallCounter())
        self.server = self.enterContext(Server(logdir=self.root, environment=self.counter.environment))
        module = self.server.get("/api/v1/modules", {"session": "s"}).json()["modules"][0]["name"]
        self.view = "/api/v1/memory_view", {"session": "s", "module": module}

    def ask(self, question):
        path, query = question
        before = self.counter.read()
        answer = self.server.get(path, query)
        calls = self.counter.read() - before
        return answer, calls.looks + calls.folders + calls.files

    def ask_until_it_takes_no_look(self, question):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer, calls = self.ask(question)
            self.assertEqual(answer.status, 200, answer)
            if not calls:
                return answer
            self.assertLess(time.monotonic(), deadline, "each answer takes a look")

    def test_a_view_takes_no_look_and_is_the_same(self):
        first = self.server.get(*self.view)
        again = self.ask_until_it_takes_no_look(self.view)
        self.assertEqual((again.body, again.headers["ETag"]), (first.body, first.headers["ETag"]))
        cached = self.server.get(*self.view, headers={"If-None-Match": first.headers["ETag"]})
        self.assertEqual(cached.status, 304)
        refused = self.server.get(*self.view, headers={"Host": "elsewhere.example"})
        self.assertEqual(refused.status, 403)

    def test_a_file_that_is_rewritten_is_read_anew(self):
        self.ask_until_it_takes_no_look(self.view)
        times = self.place.stat()
        self.place.write_bytes(xplane(OTHER))
        os.utime(self.place, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.server.get(*self.view).status, 404)

    def test_a_file_that_is_written_to_without_closing_is_read_anew(self):
        self.ask_until_it_takes_no_look(self.view)
        with open(self.place, "r+b") as file:
            file.truncate(0)
            self.assertNotEqual(self.server.get(*self.view).status, 200)

    def test_what_is_moved_away_is_not_there(self):
        self.ask_until_it_takes_no_look(self.view)
        session = self.place.parent
        session.parent.rename(session.parent.with_name("elsewhere"))
        self.assertNotEqual(self.server.get(*self.view).status, 200)

    def test_a_new_session_is_listed_at_the_next_request(self):
        listing = "/api/v1/sessions", {}
        self.ask_until_it_takes_no_look(listing)
        for i in range(3):
            whole = self.place.parent.with_name(f"t{i}")
            shutil.copytree(self.place.parent, whole)
            names = [session["name"] for session in self.server.get(*listing).json()["sessions"]]
            self.assertIn(whole.name, names)
            shutil.rmtree(whole)
            names = [session["name"] for session in self.server.get(*listing).json()["sessions"]]
            self.assertNotIn(whole.name, names)
            self.ask_until_it_takes_no_look(listing)


if __name__ == "__main__":
    unittest.main()
