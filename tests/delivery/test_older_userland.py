"""The wheel, the package and the file in Debian 11: an older glibc, Python, pip and dpkg than the machine's own."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
DIST = REPO / "build" / "dist"
VERSION = (REPO / "VERSION").read_text().strip()
MACHINE, ARCHITECTURE = os.uname().machine, {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
SESSION = REPO / "tests/fixtures/logdir/plugins/profile/v5e_matmul"
INSIDE = pathlib.Path("/opt/tried")
REPORT = ["report", str(INSIDE / SESSION.name), "--format=json"]

ALL_PARTS = """
import hbmview, importlib, pkgutil
for part in pkgutil.walk_packages(hbmview.__path__, "hbmview."):
    if "__main__" in part.name: continue
    try: importlib.import_module(part.name)
    except ImportError as error: assert "pip install" in str(error), error
    else: print(part.name)
"""


def told(*words):
    done = subprocess.run([str(word) for word in words], cwd=REPO, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    if done.returncode:
        raise AssertionError(f"{words}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


class Debian11(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rights = [] if os.geteuid() == 0 else ["sudo"]
        cls.root = pathlib.Path(told("scripts/install-userland", "bullseye").strip())
        cls.as_root("rm", "-rf", f"{cls.root}{INSIDE}")
        cls.as_root("mkdir", "-p", f"{cls.root}{INSIDE}/{SESSION.name}")
        wheel, = DIST.glob(f"hbmview-{VERSION}-py3-none-*musllinux_1_1_{MACHINE}.whl")
        cls.wheel = INSIDE / wheel.name
        package = DIST / f"hbmview_{VERSION}_{ARCHITECTURE}.deb"
        cls.package = INSIDE / package.name
        cls.as_root("cp", wheel, package, f"{cls.root}{INSIDE}")
        cls.as_root("cp", *SESSION.iterdir(), f"{cls.root}{INSIDE}/{SESSION.name}")
        cls.figures = json.loads(told(os.environ["HBMVIEW"], "report", SESSION, "--format=json"))["modules"]

    @classmethod
    def tearDownClass(cls):
        cls.as_root("rm", "-rf", f"{cls.root}{INSIDE}")

    @classmethod
    def as_root(cls, *words):
        return told(*cls.rights, *words)

    def inside(self, *words):
        clean = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"]
        return self.as_root(shutil.which("chroot", path="/usr/sbin:/sbin:/usr/bin"), self.root, *clean, *words)

    def test_it_is_older(self):
        self.assertRegex(self.inside("python3", "--version"), r"^Python 3\.9\.")
        self.assertIn("2.31", self.inside("ldd", "--version"))

    def test_the_wheel_in_a_fresh_environment(self):
        scripts = INSIDE / "venv/bin"
        self.inside("python3", "-m", "venv", scripts.parent)
        self.inside(scripts / "pip", "install", "--no-index", "--disable-pip-version-check", self.wheel)
        self.assertEqual(f"hbmview {VERSION}\n", self.inside(scripts / "hbmview", "--version"))
        self.assertEqual(self.figures, json.loads(self.inside(scripts / "hbmview", *REPORT))["modules"])
        asked = f"import hbmview, json; print(json.dumps(hbmview.report({REPORT[1]!r})['modules']))"
        self.assertEqual(self.figures, json.loads(self.inside(scripts / "python", "-W", "error", "-c", asked)))
        told_parts = self.inside(scripts / "python", "-c", ALL_PARTS).split()
        self.assertIn("hbmview._fit.targets", told_parts)

    def test_the_package_comes_and_goes(self):
        self.inside("dpkg", "-i", self.package)
        self.assertEqual(self.figures, json.loads(self.inside("hbmview", *REPORT))["modules"])
        self.inside("dpkg", "-P", "hbmview")
        self.assertFalse((self.root / "usr/bin/hbmview").exists())


if __name__ == "__main__":
    unittest.main()
