"""Log directories of many sessions, made of the fixtures', and the package as it lies in the repository.

    fleet = LogDir(folder); fleet.add("2026_11_03_10_00_00", "v5e_matmul"); fleet.break_one("2026_11_04_nightly")
"""
import gzip
import os
import pathlib
import shutil
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
PROFILES = REPO / "tests" / "fixtures" / "logdir" / "plugins" / "profile"
GOLDEN = REPO / "tests" / "fixtures" / "xprof_golden"
LONG_AGO = 1_700_000_000

os.environ["HBMVIEW"] = str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())
os.environ["PYTHONPATH"] = str(REPO / "python")  # of Ray's workers as well
os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
sys.path.insert(0, str(REPO / "python"))
sys.path.insert(0, str(REPO / "tests" / "http"))  # real_buckets


class LogDir:
    def __init__(self, folder):
        self.root = pathlib.Path(folder).resolve()

    def add(self, name, session):
        """`name` may have folders before it: "team/2026_11_03"."""
        run, _, base = name.rpartition("/")
        shutil.copytree(PROFILES / session, self.root / run / "plugins" / "profile" / base)

    def file(self, name):
        run, _, base = name.rpartition("/")
        return next((self.root / run / "plugins" / "profile" / base).iterdir())

    def replace(self, name, session):
        file = self.file(name)
        shutil.copy(next((PROFILES / session).iterdir()), file)

    def break_one(self, name):
        """The first part of a profile, as a full disk left it long ago."""
        self.add(name, "v5e_gpt_4layer")
        file = self.file(name)
        whole = file.with_name("vm.xplane.pb")
        whole.write_bytes(gzip.decompress(file.read_bytes())[:30000])
        os.utime(whole, (LONG_AGO, LONG_AGO))
        file.unlink()
