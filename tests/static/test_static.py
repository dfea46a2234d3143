"""The program as one file: STATIC is what `make static` made, HBMVIEW the ordinary build that it equals.

UNDER runs files of another machine (qemu-aarch64-static, which needs nothing of the machine either).
"""
import json
import os
import pathlib
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(REPO / "tests" / "http"))
from bucket_server import BucketServer  # noqa: E402
from own_certificate import make_certificate  # noqa: E402

FIXTURES = REPO / "tests/fixtures"
CORPUS = REPO / os.environ.get("CORPUS", "../shared/corpus")  # compared too where it lies beside
ORDINARY = os.environ["HBMVIEW"]
STATIC = pathlib.Path(os.environ["STATIC"])
UNDER = os.environ.get("UNDER", "").split()
LARGEST_BYTES = 4 << 20
PROFILE = "plugins/profile/v5e_matmul"
VIEW = ("/data/plugin/profile/data?run=v5e_matmul&tag=memory_viewer&host=tpu-vm-0&module_name=jit__lambda(1)"
        "&memory_space=0")


def run(command, **how):
    return subprocess.run(command, capture_output=True, timeout=120, **how)


def sessions_of(logdir):
    return sorted(path for path in (logdir / "plugins/profile").iterdir() if path.is_dir())


def inside(root, *arguments):
    """The command that runs the file with `root` as its whole world; by those who are not root, in a user namespace."""
    shutil.copy(STATIC, root / "hbmview")
    machine = []
    if UNDER:
        shutil.copy(shutil.which(UNDER[0]), root / "machine")
        machine = ["/machine", *UNDER[1:]]
    enter = ["chroot", root] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root]
    return [shutil.which(enter[0]), *enter[1:], *machine, "/hbmview", *arguments]


def view_of(server):
    """The URL of a server that has just been started, and what it answers about a program."""
    url = next(found.group(0) for line in server.stdout if (found := re.search(r"http://[^\s?]+", line)))
    with urllib.request.urlopen(url.rstrip("/") + VIEW, timeout=120) as answer:
        return json.load(answer)


class OneFile(unittest.TestCase):
    def test_it_is_small_and_asks_for_no_library(self):
        self.assertLessEqual(STATIC.stat().st_size, LARGEST_BYTES)
        headers = subprocess.run(["readelf", "-ld", STATIC], text=True, check=True, capture_output=True).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("NEEDED", headers)

    def test_it_holds_no_path_of_the_machine_that_built_it(self):
        self.assertNotIn(str(REPO).encode(), STATIC.read_bytes())


class Reports(unittest.TestCase):
    def test_are_the_ordinary_programs_byte_for_byte(self):
        logdirs = [FIXTURES / "logdir", *filter(pathlib.Path.is_dir, [CORPUS / "logdir"])]
        sessions = [session for logdir in logdirs for session in sessions_of(logdir)]
        self.assertGreaterEqual(len(sessions), 20)
        for session in sessions:
            arguments = ["report", "--format=json", session]
            ours, theirs = run([*UNDER, STATIC, *arguments]), run([ORDINARY, *arguments])
            self.assertEqual((ours.returncode, ours.stderr), (theirs.returncode, theirs.stderr), session)
            self.assertEqual(ours.stdout, theirs.stdout, session)

    def test_from_a_bucket_behind_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            certificate, key = make_certificate(pathlib.Path(folder))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            with BucketServer(FIXTURES / "logdir", tls=context) as bucket:
                arguments = ["report", "--format=json", bucket.url("s3", PROFILE)]
                trusting = {**bucket.environment("s3"), "SSL_CERT_FILE": str(certificate)}
                ours, theirs = (run([*program, *arguments], env=trusting) for program in ([*UNDER, STATIC], [ORDINARY]))
                self.assertEqual((ours.returncode, ours.stderr), (0, b""))
                self.assertEqual(ours.stdout, theirs.stdout)
                refused = run([*UNDER, STATIC, *arguments], env=bucket.environment("s3"))
                self.assertEqual(refused.returncode, 3)
                self.assertIn(b"certificate", refused.stderr)


class Serving(unittest.TestCase):
    def test_it_does_not_encrypt_and_says_who_does(self):
        refused = run([*UNDER, STATIC, "--port=0", "--tls_cert=/none", "--tls_key=/none"])
        self.assertEqual((refused.returncode, refused.stdout), (2, b""))
        self.assertIn(b"docs/proxies.md", refused.stderr)


class EmptyRoot(unittest.TestCase):
    """Nothing around it: no other file than the profile, no environment."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(FIXTURES / "logdir" / PROFILE, self.root / "logs" / PROFILE)

    def test_it_reports(self):
        done = run(inside(self.root, "report", "--format=json", f"/logs/{PROFILE}"), env={})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"jit__lambda", done.stdout)

    def serve(self, command, **how):
        with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how) as server:
            try:
                return view_of(server)
            finally:
                server.terminate()

    def test_it_serves(self):
        alone = self.serve(inside(self.root, "--logdir=/logs", "--port=0"), env={})
        ordinary = self.serve([ORDINARY, f"--logdir={self.root}/logs", "--port=0"])
        self.assertEqual(alone, ordinary)
        self.assertGreater(len(alone), 3)


if __name__ == "__main__":
    unittest.main()
