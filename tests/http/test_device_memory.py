"""Device memory profiles: where they are found, what they hold (against jax's own figures), what is refused."""
import collections
import contextlib
import gzip
import http.client
import json
import pathlib
import re
import select
import shutil
import tempfile
import time
import unittest

from call_counter import CallCounter
from log_folders import age, listing, xplane
from pprof_decode import samples
from server_fixture import FIXTURES, Server
from slow_files import SlowFiles

FILE = FIXTURES / "device_memory" / "two_devices.memory.prof"
HELD = json.loads((FIXTURES / "device_memory" / "two_devices.expected.json").read_text())
COUNT, BYTES = 0, 1  # of a sample's values


@contextlib.contextmanager
def log_directory(files):
    """A log directory with {"path": bytes}."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="hbmview-test-"))
    try:
        for name, data in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            age(place)
        yield root
    finally:
        shutil.rmtree(root)


def columns(table):
    """Rows of a columnar reply."""
    return [dict(zip(table, row)) for row in zip(*table.values())]


def threads_of(server):
    return int(re.search(r"Threads:\s+(\d+)", pathlib.Path(f"/proc/{server.process.pid}/status").read_text())[1])


class OneFile(unittest.TestCase):
    """The program opened on the file itself; an independent decoder reads the same file."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(logdir=FILE).__enter__()
        cls.samples = samples(FILE)

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def profile(self, **query):
        answer = self.server.get("/api/v1/device_memory/profile", {"session": FILE.name, **query})
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_bytes_are_those_of_the_live_arrays(self):
        listed = self.server.get("/api/v1/device_memory", {"session": FILE.name}).json()
        self.assertEqual([file["name"] for file in listed["files"]], [FILE.name])
        groups = listed["files"][0]["groups"]
        self.assertEqual({g["device"]: g["bytes"] for g in groups if g["kind"] == "buffer"}, HELD)
        self.assertEqual(listed["files"][0]["bytes"], sum(g["bytes"] for g in groups))
        self.assertEqual(listed["files"][0]["error"], None)

    def test_groups_are_the_samples(self):
        expected = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples:
            of = expected[(sample["labels"].get("kind", ""), sample["labels"].get("device", ""))]
            of[0] += sample["values"][BYTES]
            of[1] += sample["values"][COUNT]
        profile = self.profile()
        found = {(profile["strings"][g["kind"]], profile["strings"][g["device"]]): [g["bytes"], g["count"]]
                 for g in columns(profile["groups"])}
        self.assertEqual(found, dict(expected))
        self.assertGreaterEqual(len(found), 3)

    def stack_of(self, profile, node):
        stack = []
        while node > 0:
            frame = profile["nodes"]["frame"][node]
            function = profile["frames"]["function"][frame]
            stack.append((profile["strings"][profile["functions"]["name"][function]],
                          profile["strings"][profile["functions"]["file"][function]], profile["frames"]["line"][frame]))
            node = profile["nodes"]["parent"][node]
        return tuple(stack[::-1])

    def test_every_stack_holds_what_its_samples_hold(self):
        expected = collections.Counter()
        for sample in self.samples:
            key = (tuple(sample["stack"]), sample["labels"].get("kind", ""), sample["labels"].get("device", ""))
            expected[(*key, "bytes")] += sample["values"][BYTES]
            expected[(*key, "count")] += sample["values"][COUNT]
        profile = self.profile()
        found = collections.Counter()
        for part in columns(profile["parts"]):
            key = (self.stack_of(profile, part["node"]),
                   *(profile["strings"][profile["groups"][name][part["group"]]] for name in ("kind", "device")))
            found[(*key, "bytes")] += part["self_bytes"]
            found[(*key, "count")] += part["self_count"]
        self.assertEqual({k: v for k, v in found.items() if v}, {k: v for k, v in expected.items() if v})

    def test_nodes_add_up(self):
        for frames in ("all", "own"):
            profile = self.profile(frames=frames)
            nodes, parts = columns(profile["nodes"]), columns(profile["parts"])
            self.assertEqual((nodes[0]["parent"], nodes[0]["frame"]), (-1, -1))
            for figure in ("bytes", "count"):
                self.assertEqual(nodes[0][f"total_{figure}"], profile[figure])
                rest = [node[f"total_{figure}"] - node[f"self_{figure}"] for node in nodes]
                for node in nodes[1:]:
                    rest[node["parent"]] -= node[f"total_{figure}"]
                self.assertEqual(rest, [0] * len(nodes))
                for kind in ("self", "total"):
                    sums = [0] * len(nodes)
                    for part in parts:
                        sums[part["node"]] += part[f"{kind}_{figure}"]
                    self.assertEqual(sums, [node[f"{kind}_{figure}"] for node in nodes])
            siblings = collections.defaultdict(list)
            for at, node in enumerate(nodes[1:], 1):
                self.assertLess(node["parent"], at)
                siblings[node["parent"]].append(node["total_bytes"])
            for totals in siblings.values():
                self.assertEqual(totals, sorted(totals, reverse=True))

    def test_top_counts_a_stack_once_for_each_function(self):
        expected = collections.defaultdict(lambda: [0, 0])
        for sample in self.samples:
            functions = [frame[:2] for frame in sample["stack"]]
            expected[functions[-1]][0] += sample["values"][BYTES]
            for function in set(functions):
                expected[function][1] += sample["values"][BYTES]
        profile = self.profile()
        strings, functions = profile["strings"], profile["functions"]
        name = lambda function: tuple(strings[functions[key][function]] for key in ("name", "file"))
        found = {name(row["function"]): [row["self_bytes"], row["total_bytes"]] for row in columns(profile["top"])}
        self.assertEqual(found, dict(expected))
        recursive = [s for s in self.samples if [f[0] for f in s["stack"]].count("grow") > 1]
        self.assertTrue(recursive, "the fixture has a function that calls itself")

    def test_own_frames_leave_out_libraries(self):
        expected = collections.Counter()
        for sample in self.samples:
            own = tuple(frame for frame in sample["stack"] if "/site-packages/" not in frame[1])
            self.assertTrue(own)
            expected[own] += sample["values"][BYTES]
        profile = self.profile(frames="own")
        found = {self.stack_of(profile, at): node["self_bytes"] for at, node in enumerate(columns(profile["nodes"]))}
        self.assertEqual({k: v for k, v in found.items() if v}, {k: v for k, v in expected.items() if v})

    def test_xprof_does_not_know_it(self):
        listed = self.server.get("/api/v1/sessions").json()
        self.assertEqual((listed["sessions"], listed["left_out"]), ([], []))
        self.assertEqual([s["name"] for s in listed["device_memory"]], [FILE.name])
        self.assertEqual(self.server.get("/data/plugin/profile/runs").json(), [])
        self.assertEqual(self.server.get("/data/plugin/profile/run_tools", {"run": FILE.name}).json(), [])

    def test_what_is_not_there(self):
        get = lambda **query: self.server.get("/api/v1/device_memory/profile", query)
        self.assertEqual(get().status, 400)
        self.assertEqual(get(session="nope").status, 404)
        self.assertEqual(get(session=FILE.name, file="other.prof").status, 404)
        self.assertIn(FILE.name, get(session=FILE.name, file="other.prof").json()["error"]["message"])
        self.assertEqual(get(session=FILE.name, frames="some").status, 400)
        self.assertEqual(self.server.get("/api/v1/device_memory", {"session": "../" + FILE.name}).status, 404)

    def test_replies_are_kept(self):
        first, again = (self.server.get("/api/v1/device_memory/profile", {"session": FILE.name}) for _ in range(2))
        self.assertEqual((first.headers["ETag"], first.body), (again.headers["ETag"], again.body))
        same = self.server.get("/api/v1/device_memory/profile", {"session": FILE.name},
                               {"If-None-Match": first.headers["ETag"]})
        self.assertEqual(same.status, 304)


class LogDirectory(unittest.TestCase):
    def test_where_they_lie_says_whose_they_are(self):
        data = FILE.read_bytes()
        files = {"memory.prof": data, "mem/step_1.pb.gz": data, "mem/step_2.prof": gzip.decompress(data),
                 "plugins/profile/run/vm.xplane.pb": xplane("tf_tiny"), "plugins/profile/run/held.prof": data,
                 "plugins/profile/run/other.prof": data, "mem/cprofile.prof": b"{(\x01\x00\x00\x00s",
                 "mem/saved_model.pb": b"\x08\x01\x12\x02\x0a\x00"}
        with log_directory(files) as root, Server(logdir=root) as server:
            before = listing(root)
            listed = server.get("/api/v1/sessions").json()
            self.assertEqual([s["name"] for s in listed["sessions"]], ["run"])
            self.assertEqual([s["name"] for s in listed["device_memory"]],
                             ["memory.prof", "mem/step_2.prof", "mem/step_1.pb.gz"])
            self.assertEqual(server.get("/runs").json(), ["run"])
            self.assertEqual(server.get("/hosts", {"run": "run", "tag": "memory_profile"}).json(), [{"hostname": "vm"}])
            names = lambda session: [f["name"] for f in server.get("/api/v1/device_memory",
                                                                    {"session": session}).json()["files"]]
            self.assertEqual(names("run"), ["held.prof", "other.prof"])
            self.assertEqual(names("mem/step_2.prof"), ["step_2.prof"])
            profile = lambda **query: server.get("/api/v1/device_memory/profile", query)
            self.assertEqual(profile(session="run").status, 400)  # which of the two?
            self.assertEqual(profile(session="run", file="other.prof").json()["bytes"], sum(HELD.values()))
            self.assertEqual(profile(session="mem/step_2.prof").json()["nodes"],
                             profile(session="memory.prof").json()["nodes"])
            self.assertEqual(listing(root), before)

    def test_a_session_without_one_is_empty(self):
        with Server() as server:
            self.assertEqual(server.get("/api/v1/device_memory", {"session": "v5e_matmul"}).json(),
                             {"session": "v5e_matmul", "files": []})
            self.assertEqual(server.get("/api/v1/device_memory/profile", {"session": "v5e_matmul"}).status, 404)
        with Server(logdir=None) as server:
            self.assertEqual(server.get("/api/v1/device_memory", {"session": "sample"}).json()["files"], [])

    def test_a_damaged_one_is_told_and_hides_no_other(self):
        data = FILE.read_bytes()
        run = "plugins/profile/run/"
        with log_directory({run + "bad.prof": data[:-400], run + "good.prof": data}) as root:
            with Server(logdir=root) as server:
                bad, good = server.get("/api/v1/device_memory", {"session": "run"}).json()["files"]
                self.assertEqual((bad["name"], bad["bytes"], bad["groups"]), ("bad.prof", 0, []))
                self.assertTrue(bad["error"]["file"].endswith("/bad.prof"))
                self.assertEqual(good["bytes"], sum(HELD.values()))
                answer = server.get("/api/v1/device_memory/profile", {"session": "run", "file": "bad.prof"})
                self.assertEqual(answer.status, 422)
                self.assertEqual(answer.json()["error"]["message"], bad["error"]["message"])

    def test_a_broken_one_is_told_and_hides_no_other(self):
        run = "plugins/profile/run/"
        files = {run + "empty.prof": b"", run + "good.prof": FILE.read_bytes(), run + "noise.pprof": b"no such thing",
                 run + "cpu.prof": b"{(\x01\x00\x00\x00s", run + "graph.pb": b"no such thing", "memory.prof": b""}
        with log_directory(files) as root, Server(logdir=root) as server:
            told = {file["name"]: file["error"]
                    for file in server.get("/api/v1/device_memory", {"session": "run"}).json()["files"]}
            self.assertEqual(sorted(told), ["empty.prof", "good.prof", "noise.pprof"])
            self.assertEqual(told["good.prof"], None)
            self.assertIn("the file is empty", told["empty.prof"]["message"])
            self.assertIn("begins with a sample type of pprof", told["noise.pprof"]["message"])
            for name in ("empty.prof", "noise.pprof"):
                self.assertEqual(told[name]["offset"], 0)
                self.assertTrue(told[name]["file"].endswith("/" + name))
            glance = server.get("/api/v1/session", {"session": "run"}).json()
            self.assertEqual((glance["files"], glance["unreadable_files"], glance["tools"]), (3, 2, ["device_memory"]))
            listed = server.get("/api/v1/sessions").json()["device_memory"]
            self.assertEqual([session["name"] for session in listed], ["memory.prof"])
            answer = server.get("/api/v1/device_memory/profile", {"session": "memory.prof"})
            self.assertEqual(answer.status, 422)
            self.assertIn("the file is empty", answer.json()["error"]["message"])

    def test_files_are_looked_into_once_for_each_version(self):
        run = "plugins/profile/run/"
        files = {f"{run}{name}": content for i in range(10)
                 for name, content in {f"noise{i}.prof": b"no such thing", f"graph{i}.pb": b"no such thing",
                                       f"cpu{i}.prof": b"{(\x01\x00\x00\x00s"}.items()}
        with log_directory(files) as root, CallCounter() as counter:
            with Server(logdir=root, environment=counter.environment) as server:
                ask = lambda: [server.get(f"/api/v1/{what}", {"session": "run"}).json()["files"]
                               for what in ("session", "device_memory")]
                first = ask()
                self.assertEqual((first[0], len(first[1])), (10, 10))
                before = counter.read()
                self.assertEqual(ask(), first)
                self.assertLess((counter.read() - before).files, 10)
                (root / run / "cpu3.prof").write_bytes(FILE.read_bytes())
                self.assertEqual(len(ask()[1]), 11)

    def test_many_who_ask_at_once_have_few_threads(self):
        """40 files on a disk that is slow and 60 requests: a thread for each of these, and what they share."""
        run, requests, shared, others = "plugins/profile/run/", 60, 96, 40
        files = {f"{run}cpu{i}.prof": b"{(\x01\x00\x00\x00s" for i in range(40)}
        with log_directory(files) as root, SlowFiles(root / run, wait_ms=0) as slow, \
             Server(logdir=root, environment=slow.environment) as server:
            self.assertEqual(server.get("/api/v1/sessions").status, 200)
            slow.slow_reads(400)
            idle = most = threads_of(server)
            askers = [http.client.HTTPConnection("127.0.0.1", server.port, source_address=(f"127.0.0.{i + 2}", 0))
                      for i in range(requests)]
            self.addCleanup(lambda: [asker.close() for asker in askers])
            for asker in askers:
                asker.request("GET", "/api/v1/device_memory?session=run")
            waiting = [asker.sock for asker in askers]
            while waiting:
                answered, _, _ = select.select(waiting, [], [], 0.01)
                waiting = [one for one in waiting if one not in answered]
                most = max(most, threads_of(server))
            self.assertLess(most, idle + requests + shared + others)
            self.assertLessEqual(slow.read().most_at_once, len(files))  # of each file one read

    def test_a_replaced_file_is_read_anew(self):
        with log_directory({"memory.prof": FILE.read_bytes()}) as root, Server(logdir=root) as server:
            ask = lambda: server.get("/api/v1/device_memory/profile", {"session": "memory.prof"})
            self.assertEqual(ask().json()["bytes"], sum(HELD.values()))
            (root / "memory.prof").write_bytes(FILE.read_bytes()[:-400])
            self.assertEqual(ask().status, 422)
            (root / "memory.prof").unlink()
            self.assertEqual(ask().status, 404)


if __name__ == "__main__":
    unittest.main()
