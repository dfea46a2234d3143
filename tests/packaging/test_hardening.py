"""The program as the loader sees it: what makes a mistake in memory harder to use. Reads $HBMVIEW, built in the release
mode, and $STATIC where it is given."""
import os
import pathlib
import platform
import subprocess
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = (REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve()


def read(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def segments(program):
    """(type, flags) of each program header."""
    rows = [line.split() for line in read("readelf", "-lW", program).splitlines()]
    return [(row[0], "".join(row[6:-1])) for row in rows if len(row) > 7 and row[1].startswith("0x")]


class HardenedFile:
    """What holds for every program, linked in any way."""

    def test_it_may_be_loaded_anywhere(self):
        self.assertRegex(read("readelf", "-hW", self.program), r"Type: +DYN")

    def test_no_memory_is_both_written_and_executed(self):
        found = segments(self.program)
        self.assertIn("LOAD", dict(found))
        self.assertEqual([one for one in found if "W" in one[1] and "E" in one[1]], [])
        self.assertEqual(dict(found)["GNU_STACK"], "RW")

    def test_what_the_loader_fills_in_is_read_only_then(self):
        self.assertIn("GNU_RELRO", dict(segments(self.program)))
        dynamic = read("readelf", "-dW", self.program)
        self.assertRegex(dynamic, r"FLAGS_1\).*\bNOW\b")
        self.assertNotRegex(dynamic, r"TEXTREL|RPATH|RUNPATH")


class Ordinary(HardenedFile, unittest.TestCase):
    program = PROGRAM

    @classmethod
    def setUpClass(cls):
        cls.symbols = read("nm", "-D", PROGRAM)
        cls.code = read("objdump", "-d", "--no-show-raw-insn", PROGRAM)

    def test_stacks_and_buffers_are_checked(self):
        self.assertIn("__stack_chk_fail", self.symbols)
        self.assertIn("__memcpy_chk", self.symbols)
        self.assertIn("__snprintf_chk", self.symbols)

    @unittest.skipUnless(platform.machine() == "x86_64", "instructions of x86-64")
    def test_calls_land_where_functions_begin(self):
        functions = self.code.split("\n\n")
        main = next(one for one in functions if "<main>:" in one)
        self.assertIn("endbr64", main.splitlines()[1])

    @unittest.skipUnless(platform.machine() == "x86_64", "instructions of x86-64")
    def test_large_frames_touch_each_page_of_the_stack(self):
        self.assertRegex(self.code, r"or[ql]? +\$0x0,(0x0)?\(%rsp\)|movq? +\$0x0,\(%rsp\)")


@unittest.skipUnless(os.environ.get("STATIC"), "no static program")
class Static(HardenedFile, unittest.TestCase):
    program = pathlib.Path(os.environ.get("STATIC", ""))


if __name__ == "__main__":
    unittest.main()
