"""How little of an object is read, and in how few requests: counted by the bucket, never by the clock."""
import gzip
import pathlib
import tempfile
import threading
import unittest

from bucket_server import BucketServer
from large_profile import write_large_profile
from test_storage import PROFILES, serve

EVEN = [30_000_000 + 1234 * i for i in range(12)]
UNEVEN = [30_000_000 + 7_000_000 * (i * i % 5) for i in range(12)]
PROGRAM = "jit_train_step(1)"


class Counted:
    """What a bucket was asked for since this was made."""

    def __init__(self, bucket):
        self.bucket, self.begin = bucket, len(bucket.requests)

    @property
    def asked(self):
        return self.bucket.requests[self.begin:]

    @property
    def bytes(self):
        return sum(asked.size for asked in self.asked)


class LargeProfile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        planes = gzip.decompress(next((PROFILES / "v5e_gpt_12layer_oom").iterdir()).read_bytes())
        for name, sizes in (("even", EVEN), ("uneven", UNEVEN)):
            session = cls.folder / "run" / "plugins" / "profile" / name
            session.mkdir(parents=True)
            write_large_profile(session / "host.xplane.pb", planes, sizes)
        cls.program_bytes = len(planes)

    def test_a_listing_takes_few_requests_and_bytes(self):
        for scheme, session in (("s3", "even"), ("gs", "even"), ("s3", "uneven")):
            with self.subTest(scheme=scheme, session=session), BucketServer(self.folder) as bucket, \
                    serve(bucket, scheme, "run") as server:
                counted = Counted(bucket)
                listed = server.get("/module_list", {"run": session, "tag": "memory_viewer"})
                self.assertEqual(listed.body.decode(), PROGRAM)
                self.assertLessEqual(len(counted.asked), 20, counted.asked)
                self.assertLessEqual(counted.bytes, 2_000_000)

    def test_heads_that_lie_evenly_are_asked_for_before_they_are_known(self):
        """The bucket holds back the heads of the seventh plane and the eighth until both are asked for."""
        both = threading.Barrier(2)
        met = []

        def hold(request):
            begin = int((request.headers.get("Range") or "bytes=0-").removeprefix("bytes=").partition("-")[0])
            if sum(EVEN[:5]) < begin < sum(EVEN[:7]):
                both.wait(timeout=20)
                met.append(begin)

        with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
            bucket.fault = hold
            listed = server.get("/module_list", {"run": "even", "tag": "memory_viewer"})
            self.assertEqual(listed.body.decode(), PROGRAM)
            self.assertEqual(len(met), 2)

    def test_a_program_is_its_own_bytes_in_three_requests(self):
        with BucketServer(self.folder) as bucket, serve(bucket, "s3", "run") as server:
            server.get("/module_list", {"run": "even", "tag": "memory_viewer"})
            counted = Counted(bucket)
            view = server.get("/api/v1/memory_view", {"session": "even", "module": PROGRAM})
            self.assertEqual(view.status, 200)
            self.assertLessEqual(len(counted.asked), 3, counted.asked)
            self.assertLessEqual(counted.bytes, self.program_bytes)

    def test_a_small_profile_is_one_request(self):
        with BucketServer(PROFILES.parent.parent) as bucket, serve(bucket, "gs") as server:
            server.get("/api/v1/sessions")
            counted = Counted(bucket)
            view = server.get("/api/v1/memory_view", {"session": "v5e_matmul", "module": "jit__lambda(1)"})
            self.assertEqual(view.status, 200)
            self.assertEqual(len([asked for asked in counted.asked if asked.range]), 1, counted.asked)


if __name__ == "__main__":
    unittest.main()
