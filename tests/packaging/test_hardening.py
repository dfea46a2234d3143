"""The program as the loader sees it: what makes a mistake in memory harder to use. Reads $HBMVIEW, built in the release
mode, and $STATIC where it is given."""
import os
import pathlib
import platform
import re
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


def processor_features(*files):
    """Of each file, or member of an archive, what its note says that a processor may see to: {"IBT", "SHSTK"}."""
    found = read("readelf", "-n", *files)
    parts = re.split(r"^File: ", found, flags=re.M)[1:] or [found]
    return [set(re.findall(r"IBT|SHSTK", part)) for part in parts]


def start_files():
    """What the C library adds to every program."""
    return [read("gcc", f"-print-file-name={name}").strip() for name in ("Scrt1.o", "crti.o", "crtn.o")]


def is_given_a_size_found_at_run_time(before):
    """Whether the instructions before a call of __memcpy_chk and its like give it another size than a number."""
    size = next((line for line in reversed(before) if re.search(r",%[re]cx$", line)), None)
    return size is not None and not re.search(r"\bmov[lq]? +\$", size)


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
    def test_sizes_of_buffers_found_at_run_time_are_checked_too(self):
        compiler = re.search(r"GCC: .* (\d+)\.", read("readelf", "-p", ".comment", PROGRAM))
        if not compiler or int(compiler[1]) < 12:
            self.skipTest("gcc 12 is the first that finds them (_FORTIFY_SOURCE=3)")
        lines = self.code.splitlines()
        calls = [i for i, line in enumerate(lines) if re.search(r"<__mem(cpy|move|set)_chk@plt>$", line)]
        self.assertTrue(any(is_given_a_size_found_at_run_time(lines[i - 12:i]) for i in calls))

    @unittest.skipUnless(platform.machine() == "x86_64", "instructions of x86-64")
    def test_calls_land_where_functions_begin(self):
        functions = self.code.split("\n\n")
        main = next(one for one in functions if "<main>:" in one)
        self.assertIn("endbr64", main.splitlines()[1])

    @unittest.skipUnless(platform.machine() == "x86_64", "a processor's of x86-64")
    def test_a_processor_may_keep_a_second_stack_of_return_addresses(self):
        self.assertIn("SHSTK", processor_features(PROGRAM)[0])

    @unittest.skipUnless(platform.machine() == "x86_64", "a processor's of x86-64")
    def test_a_processor_may_see_to_where_calls_land(self):
        lacking = [file for file in start_files() if "IBT" not in processor_features(file)[0]]
        if lacking:
            self.skipTest(f"the C library's {lacking[0]} does not say it, so the linker says it of no program")
        self.assertIn("IBT", processor_features(PROGRAM)[0])

    @unittest.skipUnless(platform.machine() == "x86_64", "a processor's of x86-64")
    def test_all_that_is_compiled_here_may_be_seen_to(self):
        objects = [one for room in ("obj/server", "gen") for one in (PROGRAM.parent / "release" / room).rglob("*.o")]
        if not objects:
            self.skipTest("only the program is here")
        for features in processor_features(PROGRAM.parent / "release/libcore.a", *objects):
            self.assertEqual(features, {"IBT", "SHSTK"})

    @unittest.skipUnless(platform.machine() == "x86_64", "instructions of x86-64")
    def test_large_frames_touch_each_page_of_the_stack(self):
        self.assertRegex(self.code, r"or[ql]? +\$0x0,(0x0)?\(%rsp\)|movq? +\$0x0,\(%rsp\)")


@unittest.skipUnless(os.environ.get("STATIC"), "no static program")
class Static(HardenedFile, unittest.TestCase):
    program = pathlib.Path(os.environ.get("STATIC", ""))


if __name__ == "__main__":
    unittest.main()
