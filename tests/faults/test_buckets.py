"""Commands on what lies in buckets, with each of their calls failing once: an error, in words, or what they always say.

Beside the program's own calls those of libcurl fail: an answer that cannot be held, a request that cannot be written.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from failing import REPO, Shim, sweep_command

sys.path.insert(0, str(REPO / "tests" / "http"))
from bucket_server import TOKEN, BucketServer  # noqa: E402
from test_credentials import KeyServer, aws_keys  # noqa: E402
from test_web_addresses import WebServer  # noqa: E402

PROFILES = REPO / "tests" / "fixtures" / "logdir" / "plugins" / "profile"
SESSION = "v5e_matmul"
KEYLESS = ("HOME", "STORAGE_EMULATOR_HOST")


class Buckets(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="hbmview-faulty-")))
        shutil.copytree(PROFILES / SESSION, self.folder / "run" / "plugins" / "profile" / SESSION)
        self.bucket = self.enterContext(BucketServer(self.folder, page_size=1))
        self.shim = self.enterContext(Shim())

    def sweep(self, scheme, **own):
        """A report on the session, by whom `own` says of the environment."""
        keyless = {key: value for key, value in self.bucket.environment(scheme).items() if key in KEYLESS}
        self.shim.environment.update(keyless, **own)
        return sweep_command(self, self.shim, ["report", self.bucket.url(scheme, f"run/plugins/profile/{SESSION}")])

    def test_by_keys_of_a_container(self):
        with KeyServer({("GET", "/keys"): aws_keys(3600)}) as keys:
            self.sweep("s3", AWS_ENDPOINT_URL=self.bucket.origin, AWS_REGION="eu-test-1",
                       AWS_CONTAINER_CREDENTIALS_FULL_URI=f"{keys.origin}/keys",
                       AWS_CONTAINER_AUTHORIZATION_TOKEN="gate")

    def test_by_a_service_account(self):
        key = subprocess.run(["openssl", "genrsa", "2048"], text=True, capture_output=True, check=True).stdout
        with KeyServer({("POST", "/token"): json.dumps({"access_token": TOKEN, "expires_in": 3599})}) as keys:
            file = self.folder / "robot.json"
            file.write_text(json.dumps({"type": "service_account", "client_email": "robot@p.iam", "private_key": key,
                                        "token_uri": f"{keys.origin}/token"}))
            said = self.sweep("gs", GOOGLE_APPLICATION_CREDENTIALS=str(file))
        self.assertEqual([words for words in said if "no RSA key" in words], [], "the key is good")

    def test_with_a_cache_on_disk(self):
        self.shim.environment["FAIL_FILES_ONLY"] = "1"  # of memory the others ask
        [file] = (PROFILES / SESSION).iterdir()
        cache = self.folder / "cache"
        empty = lambda: (shutil.rmtree(cache, ignore_errors=True), cache.mkdir())
        with WebServer({file.name: file}, True) as web:
            words = ["report", web.url(file.name), f"--disk_cache={cache}"]
            sweep_command(self, self.shim, words, empty, least=1)
            self.assertNotEqual(list((cache / "hbmview-blocks").iterdir()), [], "blocks are kept")
            sweep_command(self, self.shim, words, least=1)

    def test_a_file_of_a_web_server(self):
        [file] = (PROFILES / SESSION).iterdir()
        for has_ranges in (True, False):
            with self.subTest(ranges=has_ranges), WebServer({file.name: file}, has_ranges) as web:
                sweep_command(self, self.shim, ["report", web.url(file.name)])


if __name__ == "__main__":
    unittest.main()
