"""A thousand sessions in an S3 bucket, one of them broken, read on a Ray cluster of two machines, one of which dies in
the middle: nothing is lost, nothing is there twice."""
import collections
import os
import pathlib
import tempfile
import threading
import time
import unittest
from unittest import mock

from fleets import PROFILES

import duckdb
import ray
from ray.cluster_utils import Cluster

from hbmview import fleet
from real_buckets import RealBucket

SESSIONS, ALONE, BROKEN, PER_TASK = 1000, 60, 497, 10
PARTS_BEFORE_THE_DEATH = 12
PROFILE = next((PROFILES / "v5e_matmul").iterdir())


def name(number):
    return f"2026_11_{number % 20 + 1:02d}_10_00_00_{number:04d}"


class TwoMachines:
    """Ray's own cluster for tests: a head that works on nothing, and two machines of one processor each."""

    def __enter__(self):
        self.cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 0, "include_dashboard": False,
            "_system_config": {"health_check_period_ms": 1000, "health_check_failure_threshold": 10}})
        self.machines = [self.cluster.add_node(num_cpus=1) for _ in range(2)]
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level="error")
        return self

    def kill_one(self):
        self.cluster.remove_node(self.machines.pop(), allow_graceful=False)

    def __exit__(self, *_):
        ray.shutdown()
        self.cluster.shutdown()


class OnCluster(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "table")
        self.bucket = self.enter(RealBucket("s3"))
        self.enter(mock.patch.dict(os.environ, {**self.bucket.environment(), "HOME": folder.name}))
        content = PROFILE.read_bytes()
        for number in range(SESSIONS):
            bytes_ = content[:800] if number == BROKEN else content
            self.bucket.put(f"runs/plugins/profile/{name(number)}/vm.xplane.pb.gz", bytes_)
        for number in range(ALONE):
            self.bucket.put(f"alone/plugins/profile/{name(number)}/vm.xplane.pb.gz", content)

    def enter(self, context):
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def parts(self):
        return len(list(self.out.rglob("*.parquet")))

    def kill_in_the_middle(self, machines, found):
        while self.parts() < PARTS_BEFORE_THE_DEATH and not found.get("over"):
            time.sleep(0.01)
        found["parts"] = self.parts()
        machines.kill_one()

    def ask(self, query):
        return duckdb.sql(query.replace("TABLE", f"'{self.out}/**/*.parquet'")).fetchall()

    def test_nothing_is_lost_and_nothing_is_there_twice(self):
        alone = fleet.run(self.bucket.url("alone"), self.out.with_name("alone"), engine="here", at_once=1)
        self.assertEqual(alone.read, ALONE)
        found = {}
        with TwoMachines() as machines:
            killer = threading.Thread(target=self.kill_in_the_middle, args=(machines, found))
            killer.start()
            try:
                done = fleet.run(self.bucket.url("runs"), self.out, sessions_per_task=PER_TASK)
            finally:
                found["over"] = True
                killer.join()
            again = fleet.run(self.bucket.url("runs"), self.out, sessions_per_task=PER_TASK)
        print(f"one process: {alone.per_second:.1f} sessions/s; Ray, two workers: {done.per_second:.1f} sessions/s "
              f"in {done.seconds:.1f} s, one died after {found['parts']} of {self.parts()} parts", flush=True)
        self.assertLess(found["parts"], SESSIONS // PER_TASK)
        self.assertEqual((done.sessions, done.kept, done.read, done.failed), (SESSIONS, 0, SESSIONS - 1, 1))
        self.check_table()
        self.assertEqual((again.kept, again.read, again.failed), (SESSIONS - 1, 0, 1))
        self.check_table()

    def check_table(self):
        names = self.ask("SELECT session, state, count(*) FROM TABLE WHERE kind = 'session' GROUP BY ALL")
        self.assertEqual({row[0]: row[1:] for row in names},
                         {name(n): ("failed" if n == BROKEN else "read", 1) for n in range(SESSIONS)})
        one = fleet.rows_of(PROFILE)
        expected = collections.Counter(row["kind"] for row in one)
        counts = self.ask(f"SELECT session, kind, count(*) FROM TABLE WHERE session <> '{name(BROKEN)}' GROUP BY ALL")
        self.assertEqual({(kind, count) for _, kind, count in counts}, set(expected.items()))
        self.assertEqual(len(counts), (SESSIONS - 1) * len(expected))
        [(file, reason)] = self.ask("SELECT key, reason FROM TABLE WHERE kind = 'failure'")
        self.assertIn(name(BROKEN), file)
        self.assertIn("ends early", reason)
        dates = self.ask("SELECT count(DISTINCT date), min(date)::VARCHAR, max(date)::VARCHAR FROM TABLE")
        self.assertEqual(dates, [(20, "2026-11-01", "2026-11-20")])


if __name__ == "__main__":
    unittest.main()
