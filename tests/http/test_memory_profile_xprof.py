"""XProf's Memory Profile endpoint, /data?tag=memory_profile. What it answers is compared in xprof_answers.py; this is
about what the comparison lets pass, and about requests that XProf answers badly or not at all."""
import json
import unittest

import log_folders
import memory_profile_cases
from server_fixture import FIXTURES, Server
from xprof_answers import load, without_choice

DATA = "/data/plugin/profile/data"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def strict(body):
    return json.loads(body, parse_constant=refuse)


class MemoryProfile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.start()

    @classmethod
    def tearDownClass(cls):
        assert cls.server.stop() == 0, cls.server.errors()

    def ask(self, **query):
        return self.server.get(DATA, {"tag": "memory_profile", **query})

    def refused(self, words, **query):
        answer = self.ask(**query)
        self.assertEqual(answer.status, 404, query)
        self.assertTrue(answer.headers["Content-Type"].startswith("text/plain"))
        for word in words:
            self.assertIn(word, answer.body.decode(), query)

    def test_every_field_is_there_also_when_it_is_zero(self):
        """Scripts index the answer, so it must be XProf's to the last key: same types, same spelling of numbers."""
        seen = 0
        for entry, xprof in load(FIXTURES):
            if entry["query"].get("tag") == "memory_profile" and entry["path"] == "data" and xprof:
                theirs = strict(xprof)
                ours = strict(self.ask(run=entry["query"]["run"], host=entry["query"]["host"]).body)
                self.assertEqual(without_choice(ours, theirs), without_choice(theirs, theirs), entry["file"])
                seen += 1
        self.assertGreater(seen, 30)

    def test_a_file_without_a_host_plane_has_an_empty_body(self):
        query = {"run": "memory_profile_cases", "host": "no-host-plane"}
        for headers in ({}, {"Accept-Encoding": "gzip"}):
            answer = self.server.get(DATA, {"tag": "memory_profile", **query}, headers)
            self.assertEqual((answer.status, answer.body), (200, b""))
            self.assertTrue(answer.headers["Content-Type"].startswith("application/json"))

    def test_host_may_be_left_out_where_there_is_one(self):
        named = self.ask(run="tf_tiny", host="vm")
        for query in ({}, {"host": ""}, {"host_id": "3"}, {"memory_id": "x"}):
            self.assertEqual(self.ask(run="tf_tiny", **query).body, named.body, query)

    def test_host_must_be_given_where_there_are_several(self):
        self.refused(["tf_two_hosts", "2", "host"], run="tf_two_hosts")
        self.refused(["host"], run="tf_two_hosts", hosts="worker0,worker1")
        self.assertEqual(self.ask(run="tf_two_hosts", host="worker1", hosts="worker0,worker1").status, 200)

    def test_hosts_do_not_share_an_answer(self):
        bodies = {self.ask(run="tf_two_hosts", host=host).body for host in ("worker0", "worker1", "worker0")}
        self.assertEqual(len(bodies), 2)

    def test_what_is_not_there(self):
        self.refused(["nobody", "tf_tiny"], run="tf_tiny", host="nobody")
        self.refused(["no_such_run"], run="no_such_run", host="vm")
        self.assertEqual(self.ask(run="../tf_tiny").status, 404)

    def test_session_path(self):
        answer = self.ask(run="tf_tiny", session_path=str(PROFILES / "tf_tiny"), host="vm")
        self.assertEqual(answer.body, self.ask(run="tf_tiny").body)

    def test_repeated_requests(self):
        first = self.ask(run="tf_leak")
        self.assertEqual(self.ask(run="tf_leak").body, first.body)
        tag = {"If-None-Match": first.headers["ETag"]}
        again = self.server.get(DATA, {"tag": "memory_profile", "run": "tf_leak"}, tag)
        self.assertEqual((again.status, again.raw), (304, b""))


class DamagedFiles(unittest.TestCase):
    def test_a_cut_file_is_refused_and_its_neighbour_answers(self):
        good = log_folders.xplane("tf_leak")
        cut = good[: len(good) * 2 // 3]
        files = {"s/cut.xplane.pb": cut, "s/good.xplane.pb": good, "s/junk.xplane.pb": b"\xff" * 99}
        with log_folders.folder(files) as root, Server(logdir=root) as server:
            for host, status in (("cut", 404), ("junk", 404), ("good", 200)):
                answer = server.get(DATA, {"tag": "memory_profile", "run": "s", "host": host})
                self.assertEqual(answer.status, status, host)
                if status == 404:
                    self.assertIn(f"{host}.xplane.pb", answer.body.decode())

    def test_a_replaced_file_is_read_anew(self):
        names = ("equal-peaks", "address-allocated-twice")
        made = [memory_profile_cases.make(name) for name in names]
        with log_folders.folder({"s/vm.xplane.pb": made[0]}) as root, Server(logdir=root) as server:
            ask = lambda: server.get(DATA, {"tag": "memory_profile", "run": "s"}).json()["memoryProfilePerAllocator"]
            peak = lambda: ask()["bfc"]["profileSummary"]["peakStats"]["peakBytesInUse"]
            self.assertEqual(peak(), "100")
            (root / "plugins" / "profile" / "s" / "vm.xplane.pb").write_bytes(made[1])
            self.assertEqual(peak(), "12")


if __name__ == "__main__":
    unittest.main()
