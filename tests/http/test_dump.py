"""The server over XLA dumps (--xla_dump_to): sessions, modules, the compiler's own count, XProf's endpoints, damage."""
import contextlib
import gzip
import pathlib
import shutil
import tempfile
import unittest

from log_folders import PROFILES, listing
from server_fixture import FIXTURES, Server

DUMPS = FIXTURES / "xla_dump"
ASSIGNMENT = "module_0000.jit__lambda.cl_987654321.after_optimizations-buffer-assignment.txt"
SESSIONS = ["v5e_text_dump", "v5e_replicated_oom", "v5e_padded", "v5e_matmul", "v5e_both", "cpu_both"]


@contextlib.contextmanager
def inflated(*cases):
    """A folder with the cases' files as XLA wrote them, in one folder each."""
    with tempfile.TemporaryDirectory() as made:
        for case in cases:
            root = pathlib.Path(made, case)
            root.mkdir()
            for path in (DUMPS / case).glob("*.gz"):
                root.joinpath(path.stem).write_bytes(gzip.decompress(path.read_bytes()))
        yield pathlib.Path(made)


def names_of(server):
    return [session["name"] for session in server.get("/api/v1/sessions").json()["sessions"]]


class Dumps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(logdir=DUMPS).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def view(self, session, module, **query):
        answer = self.server.get("/api/v1/memory_view", {"session": session, "module": module, **query})
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def ready_modules(self, session):
        return self.server.whole_list(session)["modules"]

    def test_sessions_are_listed_for_us_and_for_xprofs_clients(self):
        self.assertEqual(names_of(self.server), SESSIONS)
        self.assertEqual(self.server.get("/data/plugin/profile/runs").json(), SESSIONS)

    def test_modules_are_called_by_name_and_number(self):
        for session, expected in (("cpu_both", [("jit_f(6)", "jit_f", 6)]),
                                  ("v5e_both", [("jit__lambda(0)", "jit__lambda", 0), ("jit_f(3)", "jit_f", 3)]),
                                  ("v5e_text_dump", [("jit__lambda(0)", "jit__lambda", 0)])):
            modules = self.ready_modules(session)
            self.assertEqual([(m["name"], m["module_name"], m["program_id"]) for m in modules], expected)
            self.assertEqual({(m["state"], m["host"]) for m in modules}, {("ready", "")})

    def test_every_memory_space_agrees_with_the_compiler(self):
        seen = 0
        for session in SESSIONS:
            for module in self.ready_modules(session):
                for space in module["memory_spaces"]:
                    view = self.view(session, module["name"], memory_space=space["space"])
                    report, totals = view["compiler_report"], view["totals"]
                    self.assertEqual((report["agrees"], report["difference_bytes"]), (True, 0))
                    self.assertEqual(report["total_bytes"],
                                     totals["total_allocation_bytes"] + totals["thread_local_bytes"])
                    seen += 1
        self.assertGreater(seen, 15)

    def test_a_profile_has_no_compiler_report(self):
        with Server() as server:
            query = {"session": "v5e_matmul", "module": "jit__lambda(1)"}
            modules = server.get("/api/v1/modules", {"session": "v5e_matmul"}).json()["modules"]
            query["module"] = modules[0]["name"]
            self.assertIsNone(server.get("/api/v1/memory_view", query).json()["compiler_report"])

    def test_the_text_is_shown_as_a_proto_is(self):
        view = self.view("v5e_text_dump", "jit__lambda(0)")
        self.assertEqual(view["module_name"], "jit__lambda")
        self.assertEqual(view["entry_computation"], "main.4")
        self.assertEqual(view["totals"]["peak_instruction"], "sort.6")
        row = view["strings"].index("sort.6{1}")
        row = view["buffers"]["instruction"].index(row)
        words = {key: view["strings"][view["buffers"][key][row]] for key in ("opcode", "shape", "op_name", "source")}
        self.assertEqual(words, {"opcode": "sort", "shape": "s32[2050,129]{0,1:T(8,128)}",
                                 "op_name": "jit(<lambda>)/jit(sort)/sort", "source": "/home/u/jax/train2.py:3"})
        buffer = self.server.get("/api/v1/buffer", {"session": "v5e_text_dump", "module": "jit__lambda(0)",
                                                    "memory_space": 0, "logical_buffer_id": 54}).json()
        self.assertEqual(buffer["stack"], ["/home/u/jax/train2.py:3:52 <lambda>", "/home/u/jax/train.py:21:10 run",
                                           "/home/u/jax/train2.py:3:0 <module>"])

    def test_out_of_memory_is_noted(self):
        notes = self.view("v5e_replicated_oom", "jit_f(37)")["notes"]
        self.assertTrue(any("ran out of memory" in note for note in notes))

    def test_xprofs_memory_viewer_works_on_dumps(self):
        for session, module in (("v5e_padded", "jit_f(5)"), ("v5e_text_dump", "jit__lambda(0)")):
            listed = self.server.get("/data/plugin/profile/module_list", {"run": session})
            self.assertEqual(listed.body.decode(), module)
            answer = self.server.get("/data/plugin/profile/data", {"run": session, "tag": "memory_viewer",
                                                                   "module_name": module})
            self.assertEqual(answer.status, 200, answer)
            view = self.view(session, module)
            self.assertAlmostEqual(answer.json()["totalBufferAllocationMib"] * 2**20,
                                   view["totals"]["total_allocation_bytes"], delta=1)


class Changing(unittest.TestCase):
    def test_dumps_beside_profiles_and_no_file_is_touched(self):
        with inflated("v5e_matmul") as root:
            shutil.copytree(PROFILES / "v5e_padded", root / "log/plugins/profile/v5e_padded")
            before = listing(root)
            with Server(logdir=root) as server:
                self.assertEqual(names_of(server), ["v5e_matmul", "log/v5e_padded"])
                query = {"session": "v5e_matmul", "module": "jit__lambda(2)"}
                self.assertEqual(server.get("/api/v1/memory_view", query).status, 200)
            self.assertEqual(listing(root), before)

    def test_a_report_that_comes_later_is_seen(self):
        with inflated("v5e_matmul") as root:
            (report,) = (root / "v5e_matmul").glob("*memory-usage-report.pb")
            content = report.read_bytes()
            report.unlink()
            query = {"session": "v5e_matmul", "module": "jit__lambda(2)"}
            with Server(logdir=root) as server:
                self.assertIsNone(server.get("/api/v1/memory_view", query).json()["compiler_report"])
                report.write_bytes(content)
                self.assertTrue(server.get("/api/v1/memory_view", query).json()["compiler_report"]["agrees"])
                report.write_bytes(content[:50])
                view = server.get("/api/v1/memory_view", query).json()
                self.assertIsNone(view["compiler_report"])
                self.assertTrue(any("cannot be read" in note for note in view["notes"]))

    def test_a_cut_text_is_an_error_and_its_neighbour_is_not(self):
        with inflated("v5e_text_dump", "v5e_matmul") as root:
            path = root / "v5e_text_dump" / ASSIGNMENT
            path.write_bytes(path.read_bytes()[:3000])
            for file in (root / "v5e_matmul").iterdir():
                shutil.copy(file, path.parent)
            with Server(logdir=root) as server:
                query = {"session": "v5e_text_dump", "module": "jit__lambda(0)"}
                answer = server.get("/api/v1/memory_view", query)
                self.assertEqual(answer.status, 422)
                error = answer.json()["error"]
                self.assertEqual((error["code"], error["file"]), ("truncated", str(path)))
                self.assertTrue(0 < error["offset"] < 3000)
                self.assertIn("line ", error["message"])
                query["module"] = "jit__lambda(2)"
                self.assertEqual(server.get("/api/v1/memory_view", query).status, 200)

    def test_links_beside_a_module_are_not_followed(self):
        with inflated("v5e_matmul") as root, inflated("v5e_padded") as other:
            (report,) = (root / "v5e_matmul").glob("*memory-usage-report.pb")
            (elsewhere,) = (other / "v5e_padded").glob("*memory-usage-report.pb")
            report.unlink()
            report.symlink_to(elsewhere)
            with Server(logdir=root) as server:
                query = {"session": "v5e_matmul", "module": "jit__lambda(2)"}
                self.assertIsNone(server.get("/api/v1/memory_view", query).json()["compiler_report"])


if __name__ == "__main__":
    unittest.main()
