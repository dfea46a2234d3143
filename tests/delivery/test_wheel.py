"""The wheels and the source distribution, installed as a user would: fresh environments, no index, no network."""
import base64
import csv
import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

REPO = pathlib.Path(__file__).resolve().parents[2]
VERSION = (REPO / "VERSION").read_text().strip()
MACHINE = os.uname().machine
DIST = REPO / "build" / "dist"
SAMPLE = "tests/fixtures/logdir"


def run(*words, **how):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "HBMVIEW", "PYTHONPATH", "PIP_INDEX_URL")}
    done = subprocess.run([str(word) for word in words], cwd=REPO, env={**environment, **how}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout[-3000:]}")
    return done.stdout


def wheel_of(machine):
    return next(DIST.glob(f"hbmview-{VERSION}-py3-none-*musllinux_1_1_{machine}.whl"))


def module(name, *words):
    """A command of a package that the tests' interpreter has (tests/requirements/delivery.txt)."""
    return run(sys.executable, "-m", name, *words)


class WheelTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def installed(self, *what):
        """The scripts of a fresh environment with it; nothing can come from elsewhere."""
        run(sys.executable, "-m", "venv", self.folder / "venv")
        scripts = self.folder / "venv" / "bin"
        run(scripts / "pip", "install", "--no-index", "--no-build-isolation", "--disable-pip-version-check", *what)
        return scripts

    def test_record_has_each_member_with_its_hash(self):
        for machine in ("x86_64", "aarch64"):
            with zipfile.ZipFile(wheel_of(machine)) as wheel:
                record = f"hbmview-{VERSION}.dist-info/RECORD"
                rows = list(csv.reader(wheel.read(record).decode().splitlines()))
                self.assertEqual(sorted(wheel.namelist()), sorted(row[0] for row in rows))
                for name, digest, size in (row for row in rows if row[0] != record):
                    data = wheel.read(name)
                    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((f"sha256={found}", str(len(data))), (digest, size), name)

    def test_the_checkers_find_nothing(self):
        self.assertEqual(3, module("twine", "--no-color", "check", "--strict", *DIST.glob("*.whl"),
                                   *DIST.glob("*.tar.gz")).count("PASSED"))
        self.assertIn("no external", " ".join(module("auditwheel", "show", wheel_of("x86_64")).split()))

    def test_a_fresh_environment_runs_it(self):
        scripts = self.installed(wheel_of(MACHINE))
        self.assertEqual(f"hbmview {VERSION}\n", run(scripts / "hbmview", "--version"))
        self.assertEqual(f"hbmview {VERSION}\n", run(scripts / "python", "-m", "hbmview", "--version"))
        self.assertIn("No broken requirements", run(scripts / "pip", "check"))
        told = run(scripts / "python", "-c", f"import hbmview; print(len(hbmview.report({SAMPLE!r})['modules']))")
        self.assertGreater(int(told), 1)
        self.assertEqual(f"{VERSION}\n", run(scripts / "python", "-c", "import hbmview; print(hbmview.__version__)"))
        self.assertTrue((scripts.parent / "share/man/man1/hbmview.1").exists())

    def test_what_the_entry_points_name_is_there(self):
        scripts = self.installed(wheel_of(MACHINE))
        look = ("from importlib.metadata import distribution as d\n"
                "print(all(callable(e.load()) for e in d('hbmview').entry_points))")
        self.assertEqual("True\n", run(scripts / "python", "-c", look))

    def test_the_source_distribution_builds_without_node(self):
        with tarfile.open(DIST / f"hbmview-{VERSION}.tar.gz") as archive:
            archive.extractall(self.folder)
        tools = self.folder / "tools"
        tools.mkdir()
        for name in ("node", "npm"):  # found first, and of no use
            (tools / name).write_text("#!/bin/sh\nexit 1\n")
            (tools / name).chmod(0o755)
        run(sys.executable, "-m", "venv", self.folder / "venv")
        run(self.folder / "venv/bin/pip", "install", "--no-index", "--disable-pip-version-check",
            self.folder / f"hbmview-{VERSION}", PATH=f"{tools}:{os.environ['PATH']}")
        self.assertEqual(f"hbmview {VERSION}\n", run(self.folder / "venv/bin/hbmview", "--version"))


if __name__ == "__main__":
    unittest.main()
