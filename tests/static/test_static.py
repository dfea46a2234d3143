"""The program as one file: STATIC is what `make static` made, HBMVIEW the ordinary build that it equals."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests/fixtures"
STATIC = pathlib.Path(os.environ["STATIC"])
LARGEST_BYTES = 4 << 20


def report(program, path, **how):
    return subprocess.run([program, "report", "--format=json", path], capture_output=True, timeout=120, **how)


class OneFile(unittest.TestCase):
    def test_it_is_small_and_asks_for_no_library(self):
        self.assertLessEqual(STATIC.stat().st_size, LARGEST_BYTES)
        headers = subprocess.run(["readelf", "-ld", STATIC], text=True, check=True, capture_output=True).stdout
        self.assertNotIn("INTERP", headers)
        self.assertNotIn("NEEDED", headers)

    def test_it_holds_no_path_of_the_machine_that_built_it(self):
        self.assertNotIn(str(REPO).encode(), STATIC.read_bytes())

    def test_its_reports_are_the_ordinary_programs_byte_for_byte(self):
        sessions = sorted(path for path in (FIXTURES / "logdir/plugins/profile").iterdir() if path.is_dir())
        self.assertGreater(len(sessions), 3)
        for session in sessions:
            ours, theirs = report(STATIC, session), report(os.environ["HBMVIEW"], session)
            self.assertEqual((ours.returncode, ours.stderr), (theirs.returncode, theirs.stderr), session)
            self.assertEqual(ours.stdout, theirs.stdout, session)

    def test_it_runs_in_an_empty_root_without_environment(self):
        with tempfile.TemporaryDirectory() as root:
            shutil.copy(STATIC, root + "/hbmview")
            profile = FIXTURES / "logdir/plugins/profile/v5e_matmul/tpu-vm-0.xplane.pb.gz"
            shutil.copy(profile, root)
            enter = ["chroot", root] if os.geteuid() == 0 else ["unshare", "-r", "chroot", root]
            command = [*enter, "/hbmview", "report", "--format=json", f"/{profile.name}"]
            done = subprocess.run([shutil.which(command[0]), *command[1:]], env={}, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"jit__lambda", done.stdout)


if __name__ == "__main__":
    unittest.main()
