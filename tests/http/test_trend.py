"""/api/v1/trend: what is known is told at once and the rest when it is asked for again; the document of
`hbmview report --trend`; from buckets as from disk."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from bucket_server import BucketServer
from server_fixture import FIXTURES, Server, ServedCase, program

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
STORY = {"2026_11_01_10_00_00": "v5e_gpt_4layer", "2026_11_02_10_00_00": "v5e_matmul",
         "2026_11_03_10_00_00": "v5e_gpt_12layer_oom"}
ASKED_MOST = 1000


def make_logdir(folder, story):
    for name, session in story.items():
        shutil.copytree(PROFILES / session, folder / "plugins" / "profile" / name)


def whole(server, query=None):
    """The answer when it is complete, and how often it was asked for."""
    for count in range(1, ASKED_MOST):
        answer = server.get("/api/v1/trend", query)
        if answer.status != 200 or answer.json()["complete"]:
            return answer, count
    raise AssertionError(f"not complete after {ASKED_MOST} times: {answer}")


class OfALogDirectory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        make_logdir(cls.root, STORY)
        cls.server = Server(logdir=cls.root).__enter__()
        cls.addClassCleanup(cls.server.__exit__, None, None, None)

    def test_it_is_the_document_of_the_command(self):
        for arguments, query in ((["--top=8"], {}), (["--top=5", "--by=phase"], {"by": "phase", "top": 5}),
                                 (["--module=jit__lambda", "--top=8"], {"module": "jit__lambda(1)"}),
                                 (["--memory-space=VMEM", "--top=8"], {"memory_space": 1})):
            command = [program(), "report", self.root, "--trend", "--format=json", *arguments]
            told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
            self.assertEqual(told.pop("errors"), [])
            answer, _ = whole(self.server, query)
            self.assertEqual(answer.json(), told)

    def test_a_session_more_is_there_when_it_is_asked_for_again(self):
        before = whole(self.server)[0].json()
        place = self.root / "plugins" / "profile" / "2026_11_04_10_00_00"
        shutil.copytree(PROFILES / "v5e_gpt_scan", place)
        try:
            after = whole(self.server)[0].json()
        finally:
            shutil.rmtree(place)
        self.assertEqual(after["points"]["session"], [*before["points"]["session"], place.name])
        self.assertEqual(after["points"]["peak_bytes"][:-1], before["points"]["peak_bytes"])

    def test_the_newest_alone(self):
        found = whole(self.server, {"limit": 2})[0].json()
        self.assertEqual((found["points"]["session"], found["left_out"]), (list(STORY)[1:], 1))

    def test_the_figures_of_a_session_are_those_of_its_view(self):
        points = whole(self.server)[0].json()["points"]
        view = self.server.get("/api/v1/memory_view", {"session": points["session"][2], "module": points["name"][2]})
        totals = view.json()["totals"]
        self.assertEqual((points["peak_bytes"][2], points["total_allocation_bytes"][2]),
                         (totals["peak_bytes"], totals["total_allocation_bytes"]))


class OfManySessions(unittest.TestCase):
    def test_each_answer_knows_as_much_as_the_one_before_and_the_last_all(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            make_logdir(root, {f"2026_11_{day:02}_10_00_00": "v5e_gpt_12layer_oom" for day in range(1, 25)})
            with Server("--threads=1", logdir=root) as server:
                known = 0
                for _ in range(ASKED_MOST):  # how much one answer adds is a matter of the machine's time
                    now = server.get("/api/v1/trend").json()
                    self.assertEqual((now["ready"] + now["pending"], now["jump"]), (24, None))
                    self.assertGreaterEqual(now["ready"], known)
                    self.assertEqual(now["points"]["state"][-1] == "ready", now["ready"] > 0, "the newest come first")
                    known = now["ready"]
                    if now["complete"]:
                        break
                self.assertEqual(known, 24)


class FromBuckets(unittest.TestCase):
    def test_the_answer_is_that_of_the_folder(self):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            make_logdir(root / "run", STORY)
            with Server(logdir=root / "run") as server:
                local = whole(server)[0].json()
            with BucketServer(root) as bucket:
                for scheme in ("s3", "gs"):
                    kept = {key: value for key, value in os.environ.items()
                            if not key.startswith(("AWS_", "GOOGLE_", "STORAGE_"))}
                    environment = {**kept, **bucket.environment(scheme)}
                    with Server(logdir=bucket.url(scheme, "run"), environment=environment) as server:
                        self.assertEqual(whole(server)[0].json(), local)


class Questions(ServedCase):
    path = "/api/v1/trend"

    def test_those_that_make_no_sense(self):
        for query in ({"tool": "x"}, {"by": "colour"}, {"limit": 0}, {"limit": "x"}, {"top": -1}, {"top": 1000},
                      {"memory_space": "x"}):
            self.assertEqual(self.answer(**query).status, 400, query)

    def test_what_is_nowhere_is_absent_everywhere(self):
        found = whole(self.server, {"module": "nope"})[0].json()
        self.assertEqual(set(found["points"]["state"]), {"absent"})
        self.assertEqual((found["jump"], found["lines"]["key"]), (None, []))
        self.assertIn("jit_train_step", [row["name"] for row in found["names"]])

    def test_where_nothing_is_to_follow_it_ends_and_says_so(self):
        no_program = "No compiled program is here."
        for session, query, reason in (
                ("tf_no_memory_events", {"tool": "memory_profile"}, "No memory events are here."),
                ("tf_tiny", {}, no_program), ("v5e_matmul", {"host": "nobody"}, no_program)):
            with self.subTest(session=session), tempfile.TemporaryDirectory() as name:
                make_logdir(pathlib.Path(name), {"2026_11_01_10_00_00": session})
                with Server(logdir=pathlib.Path(name)) as server:
                    found = whole(server, query)[0].json()
                self.assertEqual((found["points"]["state"], found["pending"], found["subject"]), (["absent"], 0, ""))
                self.assertEqual(found["points"]["reason"], [reason])

    def test_a_memory(self):
        found = whole(self.server, {"tool": "memory_profile", "memory_id": "bfc_cpu_allocator_for_gpu"})[0].json()
        points = found["points"]
        at = points["session"].index("tf_two_hosts")
        self.assertEqual((points["of"][at], points["state"][at]), (2, "ready"))
        hosts = self.server.overview("tf_two_hosts").json()["hosts"]
        peaks = [memory["peak_bytes"] for host in hosts for memory in host["memories"]
                 if memory["memory_id"] == found["subject"]]
        self.assertEqual(points["peak_bytes"][at], max(peaks))

    def test_the_sample(self):
        with Server(logdir=None) as server:
            found = whole(server)[0].json()
            self.assertEqual((found["sessions"], found["ready"], found["jump"]), (1, 1, None))


if __name__ == "__main__":
    unittest.main()
