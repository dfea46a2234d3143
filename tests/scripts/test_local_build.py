"""Where libcurl is not installed, make says so and which package has it, and builds a program for local files."""
import os
import pathlib
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures" / "logdir"
HBMVIEW = os.environ.get("HBMVIEW", "build/hbmview")
URLS = ("gs://bucket/run", "s3://bucket/run")


def run(*command, environment=None):
    kept = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(command, cwd=REPO, env={**kept, **(environment or {})}, text=True, capture_output=True,
                          check=False)


def without_libcurl(folder):
    """A pkg-config that knows every library but libcurl, as on a machine where it is not installed."""
    program = pathlib.Path(folder, "pkg-config")
    program.write_text('#!/bin/sh\ncase "$*" in *libcurl*) exit 1;; esac\n'
                       f'PATH=${{PATH#{folder}:}} exec pkg-config "$@"\n')
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


class LocalBuild(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.made = run("make", "-j2", f"BUILD={folder.name}/build", "CFLAGS=-O0", "WERROR=1",
                       environment=without_libcurl(folder.name))
        cls.program = f"{folder.name}/build/hbmview"

    def test_make_says_what_is_missing(self):
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        for word in ("local files only", "libcurl4-openssl-dev", "libssl-dev", "install-deps"):
            self.assertIn(word, self.made.stderr)

    def test_it_knows_no_libcurl(self):
        self.assertNotIn("libcurl", run("ldd", self.program).stdout)
        self.assertIn("libcurl", run("ldd", HBMVIEW).stdout)

    def test_local_files_open_as_ever(self):
        here, there = (run(program, "report", str(FIXTURES), "--format=json") for program in (HBMVIEW, self.program))
        self.assertEqual((there.returncode, there.stdout), (0, here.stdout))

    def test_a_bucket_is_refused_with_the_reason(self):
        for url in URLS:
            for arguments in ((f"--logdir={url}",), ("report", url), ("advise", url), ("diff", url, url)):
                with self.subTest(arguments):
                    answer = run(self.program, *arguments)
                    self.assertGreaterEqual(answer.returncode, 2)
                    self.assertIn("built without libcurl", answer.stderr)
                    self.assertIn("libcurl4-openssl-dev", answer.stderr)

    def test_tests_of_buckets_are_left_out_of_it(self):
        def programs(*arguments):
            return run("make", "-nB", *arguments, "programs").stdout

        here, there = programs(), programs("STORAGE=no", f"BUILD={pathlib.Path(self.program).parent}")
        for name, is_there in (("test_wire", True), ("test_server_store", True), ("test_server_signing", False)):
            self.assertIn(f"tests/{name}", here)
            self.assertEqual(is_there, f"tests/{name}" in there, name)


if __name__ == "__main__":
    unittest.main()
