"""What lies beside the profiles, in its hundred thousands: requests are counted by the bucket, never by the clock."""
import pathlib
import shutil
import tempfile
import time
import unittest

from bucket_server import BucketServer, unquote_query
from server_fixture import FIXTURES
from test_storage import SCHEMES, serve

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
CHECKPOINTS = [f"run/checkpoints/step_{i // 100:05}/part-{i % 100:03}" for i in range(100_000)]


def lists(bucket, begin=0):
    """What was asked for of names, as dictionaries."""
    return [unquote_query(asked.query) for asked in bucket.requests[begin:] if "prefix=" in asked.query]


class LargeFolders(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.add("run", "s1", "v5e_matmul")

    def add(self, log, name, session):
        shutil.copytree(PROFILES / session, self.folder / log / "plugins" / "profile" / name)

    def serve(self, scheme, prefix, *names):
        bucket = self.enterContext(BucketServer(self.folder))
        bucket.named_only = names
        return bucket, self.enterContext(serve(bucket, scheme, prefix))

    def look(self, server):
        """Names of sessions, and what was left out."""
        answer = server.get("/api/v1/sessions", {"refresh": "1"})
        self.assertEqual(answer.status, 200, answer.body)
        document = answer.json()
        return [session["name"] for session in document["sessions"]], document["left_out"]

    def look_until(self, server, is_seen):
        """Looks until what was listed holds no more, and something is seen."""
        end = time.monotonic() + 60
        while not is_seen(self.look(server)):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)

    def test_checkpoints_beside_the_profiles(self):
        for scheme in SCHEMES:
            bucket, server = self.serve(scheme, "run", *CHECKPOINTS)
            sessions, left_out = self.look(server)
            self.assertEqual(sessions, ["s1"])
            self.assertEqual([remark["path"] for remark in left_out], [f"{scheme}://bucket/run/checkpoints"])
            self.assertIn("more than 4000 objects lie below it", left_out[0]["reason"])
            self.assertLessEqual(len(lists(bucket)), 11, lists(bucket))

    def test_another_look_asks_for_the_level_and_the_profiles(self):
        for scheme in SCHEMES:
            bucket, server = self.serve(scheme, "run", *CHECKPOINTS)
            self.look(server)
            before = len(bucket.requests)
            self.add("run", f"s2_{scheme}", "v5e_padded")
            self.look_until(server, lambda seen, name=f"s2_{scheme}": name in seen[0])
            again = {(query["prefix"], query.get("delimiter")) for query in lists(bucket, before)}
            self.assertEqual(again, {("run/", "/"), ("run/plugins/", None)})

    def test_a_log_folder_beside_the_profiles_is_looked_into(self):
        self.add("run/other", "s2", "v5e_padded")
        for scheme in SCHEMES:
            _, server = self.serve(scheme, "run", *(f"run/other/checkpoints/{i:05}" for i in range(5000)))
            sessions, left_out = self.look(server)
            self.assertEqual(sessions, ["s1", "other/s2"])
            self.assertEqual([remark["path"] for remark in left_out], [f"{scheme}://bucket/run/other/checkpoints"])

    def test_what_was_left_out_is_there_when_it_is_opened(self):
        self.add("run/checkpoints/step_1", "deep", "v5e_padded")
        _, server = self.serve("s3", "run/checkpoints", *CHECKPOINTS[:6000])
        self.assertEqual(self.look(server), (["step_1/deep"], []))

    def test_folders_of_an_unknown_layout_are_listed_a_thousand_names_at_a_time(self):
        self.add("runs/r0099", "s", "v5e_padded")
        bucket, server = self.serve("gs", "runs", *(f"runs/r{i // 60:04}/{i:05}" for i in range(6000)))
        self.assertEqual(self.look(server), (["r0099/s"], []))
        self.assertLessEqual(len(lists(bucket)), 7 + 1)

    def test_many_folders_beside_the_profiles_are_listed_a_thousand_names_at_a_time(self):
        self.add("run/step_050", "s2", "v5e_padded")
        bucket, server = self.serve("s3", "run", *(f"run/step_{i // 50:03}/{i:05}" for i in range(5000)))
        self.assertEqual(self.look(server), (["step_050/s2", "s1"], []))
        self.assertLessEqual(len(lists(bucket)), 6 + 1)


if __name__ == "__main__":
    unittest.main()
