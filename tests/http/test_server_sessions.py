"""Sessions, hosts and modules: the lists of both APIs, odd names, broken files, files that change."""
import threading
import time
import unittest
import urllib.parse

from log_folders import age, folder, xplane
from server_fixture import FIXTURES, ServedCase, Server

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"


def modules(server, session, until_complete=True):
    for _ in range(500):
        answer = server.get("/api/v1/modules", {"session": session})
        assert answer.status == 200, answer
        listed = answer.json()
        if listed["complete"] or not until_complete:
            return listed
        time.sleep(0.02)
    raise AssertionError(f"never complete: {listed}")


class Fixtures(ServedCase):
    def test_sessions_newest_first(self):
        listed = self.server.get("/api/v1/sessions").json()
        names = [s["name"] for s in listed["sessions"]]
        self.assertEqual(names, sorted((p.name for p in PROFILES.iterdir()), reverse=True))
        self.assertEqual(names, self.server.get("/runs").json())
        self.assertFalse(listed["sample"])
        self.assertEqual((listed["pending"], listed["left_out"]), ([], []))

    def test_modules_and_their_figures(self):
        listed = modules(self.server, "h100_programs")
        names = [m["name"] for m in listed["modules"]]
        self.assertEqual(",".join(names), self.server.get("/module_list", {"run": "h100_programs"}).body.decode())
        for module in listed["modules"]:
            self.assertEqual((module["state"], module["error"]), ("ready", None))
            self.assertEqual(module["name"], f"{module['module_name']}({module['program_id']})")
            self.assertGreater(module["hlo_bytes"], 0)
            spaces = module["memory_spaces"]
            self.assertEqual([s["space"] for s in spaces], sorted(s["space"] for s in spaces))
            for space in spaces:
                self.assertGreater(space["total_allocation_bytes"], 0)
                self.assertTrue(space["name"])

    def test_two_hosts(self):
        listed = modules(self.server, "tf_two_hosts")
        self.assertEqual([h["name"] for h in listed["hosts"]], ["worker0", "worker1"])
        self.assertEqual(listed["modules"], [])
        self.assertEqual(self.server.get("/hosts", {"run": "tf_two_hosts", "tag": "memory_profile"}).json(),
                         [{"hostname": "worker0"}, {"hostname": "worker1"}])

    def test_xprof_routes_with_and_without_prefix(self):
        for path in ("/runs", "/run_tools?run=v5e_matmul", "/hosts?run=v5e_matmul&tag=memory_viewer", "/config",
                     "/version", "/module_list?run=v5e_matmul&tag=memory_viewer"):
            plain = self.server.get(path)
            self.assertEqual(plain.status, 200, path)
            path_only, _, query = path.partition("?")
            prefix = "/data/plugin/profile"
            for other in (prefix + path, f"{path_only}/?{query}", f"{prefix}{path_only}/?{query}"):
                self.assertEqual(self.server.get(other).body, plain.body, other)

    def test_tools(self):
        tools = lambda run: self.server.get("/run_tools", {"run": run}).json()
        self.assertEqual(tools("v5e_matmul"), ["memory_profile", "memory_viewer"])
        self.assertEqual(tools("tf_tiny"), ["memory_profile"])
        self.assertEqual(self.server.get("/module_list", {"run": "tf_tiny"}).body, b"NO_MODULE")

    def test_unknown_run_is_empty_as_in_xprof(self):
        self.assertEqual(self.server.get("/run_tools", {"run": "no"}).json(), [])
        self.assertEqual(self.server.get("/hosts", {"run": "no"}).json(), [])
        self.assertEqual(self.server.get("/module_list", {"run": "no"}).body, b"")
        for path in ("/run_tools", "/hosts", "/module_list"):
            self.assertEqual(self.server.get(path).status, 400, path)

    def test_unknown_tool(self):
        for query in ({}, {"run": "v5e_matmul"}, {"run": "v5e_matmul", "tag": "trace_viewer"}):
            answer = self.server.get("/data/plugin/profile/data", query)
            self.assertEqual(answer.status, 404)
            self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))

    def test_session_path_inside_only(self):
        inside = str(PROFILES / "v5e_matmul")
        self.assertEqual(self.server.get("/runs", {"session_path": inside}).json(), ["v5e_matmul"])
        hosts = self.server.get("/hosts", {"run": "v5e_matmul", "session_path": inside}).json()
        self.assertEqual(len(hosts), 1)
        children = self.server.get("/runs", {"run_path": str(PROFILES)}).json()
        self.assertEqual(children, self.server.get("/runs").json())
        for outside in ("/etc", "/", str(FIXTURES), inside + "/../../../../..", "/no/such"):
            self.assertEqual(self.server.get("/runs", {"session_path": outside}).json(), [], outside)
            self.assertEqual(self.server.get("/runs", {"run_path": outside}).json(), [], outside)
        self.assertEqual(self.server.get("/hosts", {"run": "..", "run_path": str(PROFILES)}).json(), [])

    def test_cold_crowd_gets_one_answer(self):
        query = {"session": "v5e_gpt_scan", "module": "jit_train_step(1)"}
        target = "/api/v1/memory_view?" + urllib.parse.urlencode(query)
        answers = []

        def ask(headers):
            answers.append(self.server.get(target, headers=headers))

        kinds = ({"Accept-Encoding": "gzip"}, {})
        threads = [threading.Thread(target=ask, args=(kinds[n % 2],)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([a.status for a in answers], [200] * 16)
        self.assertEqual(len({a.body for a in answers}), 1)
        self.assertEqual(len({a.headers["ETag"] for a in answers}), 2)
        for answer in answers:
            tag = {"If-None-Match": answer.headers["ETag"], "Accept-Encoding": "gzip"}
            again = self.server.get(target, headers=tag)
            self.assertEqual((again.status, again.raw), (304, b""))

    def test_unknown_module_and_host(self):
        for query, words in (({"module": "nope(1)"}, "jit_train_step(1)"),
                             ({"module": "jit_train_step(1)", "host": "nope"}, "tpu-vm-0")):
            answer = self.server.get("/api/v1/memory_view", {"session": "v5e_gpt_scan", **query})
            self.assertEqual(answer.status, 404)
            self.assertIn(words, answer.json()["error"]["message"])


class OddFolders(unittest.TestCase):
    def test_names(self):
        odd = ["with space", 'quote"and\\slash', "new\nline", "per%cent&amp", "ünï", "<b>", "a,b"]
        files = {f"{name}/vm.xplane.pb": xplane("v5e_matmul") for name in odd}
        with folder(files) as root, Server(logdir=root) as server:
            names = [s["name"] for s in server.get("/api/v1/sessions").json()["sessions"]]
            self.assertEqual(sorted(names), sorted(odd))
            for name in odd:
                self.assertEqual(len(modules(server, name)["modules"]), 1, name)
                self.assertEqual(server.get("/hosts", {"run": name}).json(), [{"hostname": "vm"}])

    def test_a_name_that_is_not_utf8(self):
        with folder({b"bad\xff/vm.xplane.pb": xplane("v5e_matmul")}) as root, Server(logdir=root) as server:
            self.assertEqual([s["name"] for s in server.get("/api/v1/sessions").json()["sessions"]], ["bad\ufffd"])
            self.assertEqual(server.get("/runs").json(), ["bad\ufffd"])
            self.assertEqual(server.get("/api/v1/modules?session=bad%ff").status, 200)

    def test_a_broken_host_does_not_hide_the_others(self):
        good = xplane("v5e_matmul")
        files = {"s/a.xplane.pb": good[: len(good) // 2], "s/b.xplane.pb": good, "s/c.xplane.pb": b"\x0f" * 100}
        with folder(files) as root, Server(logdir=root) as server:
            listed = modules(server, "s")
            self.assertEqual([h["name"] for h in listed["hosts"]], ["a", "b", "c"])
            self.assertEqual([h["error"] is None for h in listed["hosts"]], [False, True, False])
            for host in (listed["hosts"][0], listed["hosts"][2]):
                self.assertIn(host["error"]["code"], ("truncated", "malformed"))
                self.assertTrue(host["error"]["file"].endswith(host["file"]))
            self.assertEqual([m["hosts"] for m in listed["modules"]], [["b"]])
            self.assertEqual(server.get("/run_tools", {"run": "s"}).json()[0], "memory_profile")

    def test_one_program_on_two_hosts_is_one_row(self):
        same = xplane("v5e_matmul")
        with folder({"s/a.xplane.pb": same, "s/b.xplane.pb": same}) as root, Server(logdir=root) as server:
            rows = modules(server, "s")["modules"]
            self.assertEqual([(r["host"], r["hosts"]) for r in rows], [("a", ["a", "b"])])

    def test_a_file_that_is_replaced_is_read_anew(self):
        with folder({"s/a.xplane.pb": xplane("v5e_matmul")}) as root, Server(logdir=root) as server:
            before = modules(server, "s")
            place = root / "plugins/profile/s/a.xplane.pb"
            place.write_bytes(xplane("v5e_padded"))
            age(place)
            after = modules(server, "s")
            self.assertNotEqual(before["modules"][0]["name"], after["modules"][0]["name"])

    def test_a_session_that_comes_later_is_found(self):
        with folder({"old/a.xplane.pb": xplane("v5e_matmul")}) as root, Server(logdir=root) as server:
            self.assertEqual(server.get("/runs").json(), ["old"])
            place = root / "plugins/profile/new/a.xplane.pb"
            place.parent.mkdir()
            place.write_bytes(xplane("v5e_padded"))
            age(place)
            self.assertEqual(len(modules(server, "new")["modules"]), 1)
            self.assertEqual(server.get("/runs").json(), ["old", "new"])

    def test_a_session_still_being_written_says_so(self):
        good = xplane("v5e_matmul")
        with folder({"old/a.xplane.pb": good}) as root, Server(logdir=root) as server:
            place = root / "plugins/profile/fresh/a.xplane.pb"
            place.parent.mkdir()
            place.write_bytes(good[: len(good) // 2])
            listed = server.get("/api/v1/sessions").json()
            self.assertEqual([s["name"] for s in listed["sessions"]], ["old"])
            self.assertEqual([p["path"] for p in listed["pending"]], [str(place.parent)])
            answer = server.get("/api/v1/modules", {"session": "fresh"})
            self.assertEqual(answer.status, 404)
            self.assertIn("not ready", answer.json()["error"]["message"])

    def test_the_logdir_may_vanish(self):
        with folder({"s/a.xplane.pb": xplane("v5e_matmul")}) as root, Server(logdir=root) as server:
            modules(server, "s")
            moved = root.rename(root.with_name(root.name + "-moved"))
            try:
                for path in ("/api/v1/sessions", "/runs", "/api/v1/modules?session=s", "/hosts?run=s"):
                    answer = server.get(path)
                    self.assertTrue(answer.status >= 400 or urllib.parse.urlsplit(path).path == "/hosts", answer)
            finally:
                moved.rename(root)
            self.assertEqual(server.get("/runs").json(), ["s"])

    def test_one_file_as_logdir(self):
        with folder({"s/a.xplane.pb": xplane("v5e_matmul")}) as root:
            with Server(logdir=root / "plugins/profile/s/a.xplane.pb") as server:
                name = server.get("/runs").json()[0]
                self.assertEqual(len(modules(server, name)["modules"]), 1)


if __name__ == "__main__":
    unittest.main()
