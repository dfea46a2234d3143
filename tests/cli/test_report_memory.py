"""What `hbmview report` prints does not hang on what memory held before: glibc fills it with another byte each time."""
import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from hbmview_command import PROFILES, REPO, hbmview

SESSIONS = ("v5e_gpt_scan", "h100_programs", "tf_two_allocators")
SHARED_UNSEEN = REPO / "tests/fuzz/corpus/hlo/share_with_unseen_canonical"


def report(path, byte):
    filled = {"MALLOC_PERTURB_": str(byte), "GLIBC_TUNABLES": f"glibc.malloc.perturb={byte}"}
    with mock.patch.dict(os.environ, filled):
        return hbmview("report", path, "--format=json")


class TestReportMemory(unittest.TestCase):
    def the_same(self, path):
        first, second = report(path, 0x55), report(path, 0xAA)
        self.assertEqual(first.code, 0, first)
        self.assertEqual(first.out, second.out)

    def test_sessions(self):
        for session in SESSIONS:
            with self.subTest(session=session):
                self.the_same(PROFILES / session)

    def test_a_canonical_buffer_that_no_event_names(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.hlo_proto.pb"
            shutil.copy(SHARED_UNSEEN, file)
            self.the_same(file)


if __name__ == "__main__":
    unittest.main()
