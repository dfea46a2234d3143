"""News while the server runs, with each call failing once: whoever listens knows in the end what there is.

A listener does what a page does: it comes again when its stream ends, and asks for the list when it is told to. What it
waits for is that its names are those of the folder, with nobody doing anything more.
"""
import http.client
import json
import pathlib
import shutil
import sys
import tempfile
import time
import unittest

from failing import OF_MEMORY, REPO, Shim

sys.path.insert(0, str(REPO / "tests" / "http"))
from event_stream import EventStream  # noqa: E402
from server_fixture import Server  # noqa: E402

PROFILE = REPO / "tests" / "fixtures" / "logdir" / "plugins" / "profile" / "v5e_matmul"
OTHERS_ARE_THERE = "too_many_listeners"  # whose going the server has not seen yet: its place is free soon
GONE = "closed without an answer"
REFUSALS = {"out_of_memory", GONE}
NOWHERE = 0
SILENCES = 20  # seconds of the server's: less than after which it looks again in any case (lookout.h)
TIMES = 3  # a stream that one fault ends is there at the second try


class Listener:
    """Knows the names of the sessions, from the list and from the news since; and what it was refused on the way."""

    def __init__(self, server):
        self.server, self.last_id, self.stream, self.names, self.refusals = server, None, None, set(), []

    def __enter__(self):
        self.listen()
        return self

    def __exit__(self, *_):
        if self.stream:
            self.stream.close()

    def begin(self):
        """A stream, or what was said in its stead."""
        try:
            stream = EventStream(self.server, {"Last-Event-ID": self.last_id} if self.last_id else None, heartbeat=1)
        except (http.client.HTTPException, OSError):
            return None, GONE
        if stream.status == 200:
            return stream.__enter__(), None
        code = json.loads(stream.response.read())["error"]["code"]
        stream.close()
        return None, code

    def listen(self):
        before, is_late = len(self.refusals), time.monotonic() + SILENCES
        while len(self.refusals) < before + TIMES and time.monotonic() < is_late:
            self.stream, refusal = self.begin()
            if self.stream:
                return
            if refusal != OTHERS_ARE_THERE:
                self.refusals.append(refusal)
        raise AssertionError(f"nobody may listen: {self.refusals}")

    def ask_for_the_list(self):
        for _ in range(TIMES):
            try:
                answer = self.server.get("/api/v1/sessions")
            except (http.client.HTTPException, OSError) as error:
                answer = error
                continue
            if answer.status == 200 and not answer.json()["left_out"]:  # else it says that it is not all
                self.names = {session["name"] for session in answer.json()["sessions"]}
                return
        raise AssertionError(f"there is no list: {answer}")

    def hear(self):
        event = self.stream.next("hello", "reload", "sessions", "comment", "end")
        self.last_id = event.id or self.last_id
        if event.name == "end":
            self.stream.close()
            self.listen()
        elif event.name == "comment":
            self.silences += 1
        elif event.name == "sessions":
            self.names -= {session["name"] for session in event.data["removed"]}
            self.names |= {session["name"] for session in event.data["added"]}
        else:
            self.ask_for_the_list()

    def hear_until(self, names):
        self.silences = 0
        while self.names != names:
            self.hear()
            if self.silences == SILENCES:
                raise AssertionError(f"nothing more is heard of than {self.names}")


class Events(unittest.TestCase):
    def setUp(self):
        place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="hbmview-faulty-")))
        self.aside, self.new = place / "aside", place / "log" / "plugins" / "profile" / "new"
        shutil.copytree(PROFILE, self.aside)
        shutil.copytree(PROFILE, self.new.with_name("here"))
        self.shim = self.enterContext(Shim())
        self.server = self.enterContext(Server(logdir=place / "log", environment=self.shim.environment))

    def sweep(self, hears):
        """`hears(place)` does what is tried, with the call from there failing, and returns what was refused."""
        hears(NOWHERE)  # what happens once only
        hears(NOWHERE)
        places, failed, refused = sorted(set(self.shim.places())), 0, 0
        for place in places:
            refusals = hears(place)
            self.assertIsNone(self.server.process.poll(), "the server ended")
            failed += self.shim.failed() != "nothing"
            refused += len(refusals)
            allowed = REFUSALS if self.shim.failed() in OF_MEMORY else set()
            self.assertLessEqual(set(refusals), allowed, self.shim.failed())
        print(f"{failed} faults at {len(places)} places, {refused} refusals: {hears.__name__}")
        self.assertGreater(failed, 10, "the faults reach the program")

    def test_who_begins_to_listen(self):
        def begins(place):
            self.shim.arm_at(place)
            with Listener(self.server) as listener:
                listener.hear_until({"here"})
            self.shim.disarm()
            return listener.refusals
        self.sweep(begins)

    def test_who_listens(self):
        with Listener(self.server) as listener:
            def hears_of_a_session(place):
                listener.hear_until({"here"})
                listener.refusals = []
                self.shim.arm_at(place)
                self.aside.rename(self.new)
                listener.hear_until({"here", "new"})
                self.shim.disarm()
                self.new.rename(self.aside)
                return listener.refusals
            self.sweep(hears_of_a_session)


if __name__ == "__main__":
    unittest.main()
