"""The same sources give the same program in another folder: HBMVIEW was built here, the other one by this test."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
HERE = REPO / os.environ["HBMVIEW"]


def checksum(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copy_sources(folder):
    """What git knows, as it lies here; the packages of the page are borrowed."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPO, check=True, stdout=subprocess.PIPE).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (REPO / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, folder / name)
    (folder / "node_modules").symlink_to(REPO / "node_modules")


class Reproducible(unittest.TestCase):
    def test_another_folder_gives_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent, "a_folder_whose_name_has_another_length")
            folder.mkdir()
            copy_sources(folder)
            of_make = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
            alone = {name: value for name, value in os.environ.items() if name not in of_make}
            # Compiled here and now, by another locale: nothing comes from a cache of compilers.
            subprocess.run(["make", "-j2", "build/hbmview"], cwd=folder, check=True, stdout=subprocess.DEVNULL,
                           env={**alone, "CCACHE_DISABLE": "1", "LC_ALL": "C"})
            there = folder / "build" / "hbmview"
            self.assertEqual(checksum(there), checksum(HERE))
            self.assertNotIn(str(REPO).encode(), HERE.read_bytes())


if __name__ == "__main__":
    unittest.main()
