"""Where the package finds the program, and `python -m hbmview`."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from package import PROGRAM, REPO, hbmview
from hbmview import _binary


def module(*arguments, **environment):
    environment = {**os.environ, "PYTHONPATH": str(REPO / "python"), **environment}
    return subprocess.run([sys.executable, "-m", "hbmview", *arguments], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


class Found(unittest.TestCase):
    def test_hbmview_names_it(self):
        self.assertEqual(_binary.find(), PROGRAM)

    def test_what_hbmview_names_must_run(self):
        with mock.patch.dict(os.environ, HBMVIEW="/nonexistent/hbmview"):
            with self.assertRaisesRegex(hbmview.BinaryNotFound, "HBMVIEW names /nonexistent/hbmview"):
                _binary.find()

    def test_beside_the_scripts_comes_before_the_path(self):
        with tempfile.TemporaryDirectory() as scripts, tempfile.TemporaryDirectory() as path:
            for folder in scripts, path:
                pathlib.Path(folder, "hbmview").symlink_to(PROGRAM)
            with mock.patch.dict(os.environ, PATH=path):
                del os.environ["HBMVIEW"]
                with mock.patch.object(_binary, "_folders", lambda: iter([scripts])):
                    self.assertEqual(_binary.find(), os.path.join(scripts, "hbmview"))
                with mock.patch.object(_binary, "_folders", lambda: iter(["/nonexistent"])):
                    self.assertEqual(_binary.find(), os.path.join(path, "hbmview"))

    def test_nowhere_says_where_and_what_to_do(self):
        with mock.patch.dict(os.environ, PATH="/nonexistent"):
            del os.environ["HBMVIEW"]
            with mock.patch.object(_binary, "_folders", lambda: iter(["/nowhere"])):
                with self.assertRaisesRegex(hbmview.BinaryNotFound, "/nowhere.*pip install hbmview"):
                    hbmview.report("x")


class Module(unittest.TestCase):
    def test_it_is_the_program(self):
        done = module("--version")
        self.assertEqual(done.stdout, subprocess.run([PROGRAM, "--version"], stdout=subprocess.PIPE, text=True,
                                                     check=True).stdout)
        self.assertEqual(module("report", "--nonsense").returncode, 2)

    def test_without_the_program_it_says_so(self):
        done = module("--version", HBMVIEW="/nonexistent")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "^hbmview: .*HBMVIEW names /nonexistent")


if __name__ == "__main__":
    unittest.main()
