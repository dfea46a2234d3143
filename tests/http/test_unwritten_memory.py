"""No answer holds a byte of memory that nobody wrote: two servers whose heaps are filled with different bytes agree.

glibc fills what it hands out with the complement of MALLOC_PERTURB_, and what it takes back with that byte itself.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

from every_question import every_question
from same_answers import ask, equal_part
from server_fixture import FIXTURES, INSTRUMENTED, Server, program

LOGDIRS = [FIXTURES / name for name in ("logdir", "xla_dump", "device_memory")]
FILLINGS = ("85", "200")
QUESTIONS_AT_LEAST = 1000
# A program of 161 bytes, one of whose buffers shares the memory of a buffer that no event names.
SHARES_WITH_UNSEEN = bytes.fromhex("""
0a4d0a016d12046d61696e1a3e0a046d61696e12180a016112036164641a0b100b1a0280022a030a010098020112180a016212036164641a
0b100b1a0280022a030a010098020228013002280130011a500a0e08011080081a05120161200120000a0e08021080081a05120162200220
001a1708001080104a07080110001880084a070802100018800822150a0f080210021a046d61696e220161280110011800
""")


def filled_with(byte):
    return {**os.environ, "MALLOC_PERTURB_": byte}


@unittest.skipIf(INSTRUMENTED, "a sanitizer hands out memory of its own, filled in its own way")
class UnwrittenMemory(unittest.TestCase):
    def test_every_endpoint_answers_the_same_whatever_the_heap_held(self):
        asked = sum(self.compare(logdir) for logdir in LOGDIRS)
        self.assertGreater(asked, QUESTIONS_AT_LEAST)

    def compare(self, logdir):
        """How many questions were asked about it."""
        one, other = (self.enterContext(Server(logdir=logdir, environment=filled_with(byte))) for byte in FILLINGS)
        asked = 0
        for question in every_question(one):
            asked += 1
            here, there = ask(one, question), ask(other, question)
            self.assertEqual((here.status, equal_part(here.body, str(logdir))),
                             (there.status, equal_part(there.body, str(logdir))), question)
        return asked

    def test_a_buffer_that_no_event_names_has_a_size(self):
        with tempfile.TemporaryDirectory(prefix="hbmview-unseen-") as made:
            place = pathlib.Path(made, "unseen.hlo_proto.pb")
            place.write_bytes(SHARES_WITH_UNSEEN)
            told = [subprocess.run([program(), "report", place, "--format=json"], env=filled_with(byte),
                                   stdout=subprocess.PIPE, check=True).stdout for byte in FILLINGS]
            self.assertEqual(*told)
            self.assertIn(b'"padding_bytes"', told[0])


if __name__ == "__main__":
    unittest.main()
