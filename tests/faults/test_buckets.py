"""Commands on what lies in buckets, with each of their calls failing once: an error, in words, or what they always say.

Beside the program's own calls those of libcurl fail: an answer that cannot be held, a request that cannot be written.
"""
import pathlib
import shutil
import sys
import tempfile
import unittest

from failing import REPO, Shim, sweep_command

sys.path.insert(0, str(REPO / "tests" / "http"))
from bucket_server import BucketServer  # noqa: E402

PROFILES = REPO / "tests" / "fixtures" / "logdir" / "plugins" / "profile"
SESSION = "v5e_matmul"


class Buckets(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="hbmview-faulty-")))
        shutil.copytree(PROFILES / SESSION, self.folder / "run" / "plugins" / "profile" / SESSION)
        self.bucket = self.enterContext(BucketServer(self.folder))
        self.shim = self.enterContext(Shim())

    def test_a_command_on_a_bucket(self):
        for scheme in ("s3", "gs"):
            with self.subTest(scheme):
                url = self.bucket.url(scheme, f"run/plugins/profile/{SESSION}")
                self.shim.environment.update(self.bucket.environment(scheme))
                sweep_command(self, self.shim, ["report", url, "--format=json"])


if __name__ == "__main__":
    unittest.main()
