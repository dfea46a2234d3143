"""What the program asks of the file system does not grow where it need not: counted, not timed."""
import contextlib
import gzip
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from call_counter import CallCounter
from log_folders import age, folder, xplane
from server_fixture import FIXTURES, Server, program

SESSIONS, HOSTS = 60, 4
SLACK = 12  # of the start: libraries, time zones


@contextlib.contextmanager
def many_sessions():
    """Files and folders look finished: how often young ones are looked at depends on the time."""
    data = xplane("tf_tiny")
    with folder({f"s{i:03}/vm-{k}.xplane.pb": data for i in range(SESSIONS) for k in range(HOSTS)}) as root:
        for place in root.rglob("*"):
            age(place)
        yield root


class dump_of:
    """A folder as --xla_dump_to fills it, with `count` modules."""

    def __init__(self, count):
        self.count = count

    def __enter__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="hbmview-dump-"), "dump")
        self.root.mkdir()
        found = sorted((FIXTURES / "xla_dump" / "v5e_matmul").glob("*after_optimizations.hlo.pb.gz"))[0]
        data = gzip.decompress(found.read_bytes())
        for i in range(self.count):
            place = self.root / f"module_{i:04}.jit_f.cl_1.after_optimizations.hlo.pb"
            place.write_bytes(data)
            age(place)
        age(self.root)
        return self.root

    def __exit__(self, kind, value, trace):
        shutil.rmtree(self.root.parent)


class Commands(unittest.TestCase):
    def calls_of(self, root, *options):
        with CallCounter() as counter:
            command = [program(), "report", str(root), *options]
            done = subprocess.run(command, env=counter.environment, capture_output=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            return counter.read()

    def test_each_folder_and_file_is_touched_once(self):
        with many_sessions() as root:
            for options in (["--format", "csv"], ["--format", "json"], []):
                calls = self.calls_of(root, *options)
                self.assertLessEqual(SESSIONS, calls.folders, calls)
                self.assertLessEqual(calls.folders, SESSIONS + SLACK, calls)
                self.assertLessEqual(SESSIONS * HOSTS, calls.looks, calls)
                self.assertLessEqual(calls.looks, SESSIONS * HOSTS + SLACK, calls)
                self.assertLessEqual(calls.files, SESSIONS * HOSTS + SLACK, calls)


class Serving(unittest.TestCase):
    def test_listing_sessions_touches_each_folder_and_file_once(self):
        with many_sessions() as root, CallCounter() as counter:
            with Server(logdir=root, environment=counter.environment) as server:
                before = counter.read()
                self.assertEqual(len(server.get("/api/v1/sessions").json()["sessions"]), SESSIONS)
                calls = counter.read() - before
                self.assertLessEqual(SESSIONS, calls.folders, calls)
                self.assertLessEqual(calls.folders, SESSIONS + SLACK, calls)
                self.assertLessEqual(calls.looks, SESSIONS * HOSTS + SLACK, calls)
                self.assertEqual(calls.files, 0, calls)

    def calls_to_explain(self, count):
        """Of a log of `count` messages, each about a program that no session has."""
        message = (FIXTURES / "oom_messages" / "v5e_readme_oom.txt").read_text()
        log = "".join(message.replace("jit_oom", f"jit_lost_{i}") for i in range(count))
        with many_sessions() as root, CallCounter() as counter:
            with Server(logdir=root, environment=counter.environment) as server:
                server.get("/api/v1/sessions")
                before = counter.read()
                told = server.request("POST", "/api/v1/explain", body=log.encode()).json()["messages"]
                self.assertEqual([m["module"] for m in told], [f"jit_lost_{i}" for i in range(count)])
                return counter.read() - before

    def test_the_messages_of_a_log_search_the_sessions_once(self):
        one = self.calls_to_explain(1)
        self.assertGreaterEqual(one.looks, SESSIONS)
        self.assertEqual(self.calls_to_explain(4), one)

    def warm_calls(self, count):
        """Of a view that was asked for before, and of a poll that brings nothing new."""
        with dump_of(count) as root, CallCounter() as counter:
            with Server(logdir=root, environment=counter.environment) as server:
                query = {"session": "dump", "module": f"jit_f({count - 1})"}
                listed = server.get("/api/v1/modules", {"session": "dump"}).json()
                self.assertEqual(len(listed["modules"]), count)
                while not listed["complete"]:
                    time.sleep(0.01)
                    asked = {"session": "dump", "since": listed["version"]}
                    listed = server.get("/api/v1/modules", asked).json()
                    self.assertIn("since", listed)
                self.assertEqual(server.get("/api/v1/memory_view", query).status, 200)
                before = counter.read()
                self.assertEqual(server.get("/api/v1/memory_view", query).status, 200)
                viewed = counter.read()
                last = server.get("/api/v1/modules", {"session": "dump", "since": listed["version"]})
                self.assertEqual(last.json()["modules"], [])
                self.assertLess(len(last.body), 300)
                return viewed - before, counter.read() - viewed

    def test_a_dump_of_many_modules_costs_a_warm_request_what_one_module_does(self):
        one, many = self.warm_calls(1), self.warm_calls(200)
        self.assertGreater(one[0].looks, 0)
        self.assertEqual(one, many)
        self.assertEqual(many[0].folders + many[0].files + many[1].folders + many[1].files, 0, many)

    def test_what_polls_tell_is_each_module_once(self):
        with dump_of(40) as root, Server(logdir=root) as server:
            whole = server.get("/api/v1/modules", {"session": "dump"}).json()
            states = {(m["name"], m["host"]): m["state"] for m in whole["modules"]}
            told = [key for key, state in states.items() if state != "pending"]
            while not whole["complete"]:
                time.sleep(0.01)
                whole = server.get("/api/v1/modules", {"session": "dump", "since": whole["version"]}).json()
                self.assertEqual([m for m in whole["modules"] if m["state"] == "pending"], [])
                told += [(m["name"], m["host"]) for m in whole["modules"]]
            self.assertEqual(sorted(told), sorted(states))

    def test_a_poll_hears_of_a_new_file(self):
        with dump_of(2) as root, Server(logdir=root) as server:
            first = server.get("/api/v1/modules", {"session": "dump"}).json()
            shutil.copy(sorted(root.iterdir())[0], root / "module_0009.jit_g.cl_1.after_optimizations.hlo.pb")
            later = server.get("/api/v1/modules", {"session": "dump", "since": first["version"]}).json()
            self.assertNotIn("since", later)
            self.assertEqual(len(later["hosts"]), 3)
            self.assertIn("jit_g(9)", [m["name"] for m in later["modules"]])
            view = server.get("/api/v1/memory_view", {"session": "dump", "module": "jit_g(9)"})
            self.assertEqual(view.status, 200, view)


class ManyFiles(unittest.TestCase):
    def test_files_of_one_program_each_are_reached_by_their_names(self):
        found = sorted((FIXTURES / "xla_dump").glob("*/*after_optimizations.hlo.pb.gz"))[:3]
        with tempfile.TemporaryDirectory(prefix="hbmview-files-") as made:
            root = pathlib.Path(made, "files")
            root.mkdir()
            for i, source in enumerate([found[0], *found]):
                (root / f"prog{i}.hlo_proto.pb").write_bytes(gzip.decompress(source.read_bytes()))
            with Server(logdir=root) as server:
                listed = server.get("/api/v1/modules", {"session": "files"}).json()
                names = sorted(os.listdir(root))
                self.assertEqual([h["name"] for h in listed["hosts"]], names)
                self.assertEqual(sorted(m["file"] for m in listed["modules"]), names)
                for module in listed["modules"]:
                    self.assertEqual((module["host"], module["hosts"]), (module["file"], [module["file"]]))
                    view = server.get("/api/v1/memory_view", {"session": "files", "module": module["name"],
                                                              "host": module["file"]}).json()
                    self.assertEqual(view["host"], module["file"])
                self.assertEqual(server.get("/hosts", {"run": "files"}).json(), [])
                xprof = server.get("/module_list", {"run": "files"}).body.decode().split(",")
                self.assertEqual(len(xprof), len(set(xprof)))
            done = subprocess.run([program(), "report", str(root)], capture_output=True, text=True, check=True)
            for name in names:
                self.assertIn(name, done.stdout)


if __name__ == "__main__":
    unittest.main()
