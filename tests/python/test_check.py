"""hbmview.check where there is no jax, and where the program before optimizations lies. tests/fit compiles."""
import os
import pathlib
import shutil
import tempfile
import unittest
from unittest import mock

from package import FIXTURES, PROFILES, hbmview

from hbmview._check import flags, sources
from hbmview._check.compiling import Variant, outcome_of

DUMP = FIXTURES / "xla_dump" / "v5e_padded"
BEFORE = "module_{:04}.{}.cl_1.before_optimizations.{}"


class Asked(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def without_jax(self):
        (self.folder / "jax.py").write_text("raise ImportError('no jax')")
        return mock.patch.dict(os.environ, PYTHONPATH=str(self.folder))

    def test_without_jax_it_says_what_to_install(self):
        with self.without_jax(), self.assertRaisesRegex(hbmview.HbmviewError, r"pip install 'jax\[tpu\]'") as caught:
            hbmview.check(DUMP)
        self.assertEqual(caught.exception.exit_code, 3)

    def test_a_profile_has_no_program_before_optimizations(self):
        with self.assertRaisesRegex(hbmview.HbmviewError, "xla_dump_to=DIR --xla_dump_hlo_as_proto") as caught:
            hbmview.check(PROFILES / "v5e_gpt_4layer")
        self.assertEqual(caught.exception.exit_code, 3)
        self.assertIn("jit_train_step", str(caught.exception))

    def test_a_compiler_that_dies_is_an_outcome(self):
        with mock.patch("sys.executable", shutil.which("false")):
            outcome = outcome_of("nowhere", None, Variant())
        self.assertEqual((outcome.status, outcome.total), ("failed", None))
        self.assertIn("the compiler ended with exit code 1", outcome.reason)


class Flags(unittest.TestCase):
    def test_those_that_help_go_together_each_by_its_best_value(self):
        tried = [({"a": 1}, 90), ({"b": 1}, 80), ({"b": 2}, 70), ({"b": 3}, 85), ({"c": 1}, 100), ({"d": 1}, None)]
        self.assertEqual(flags.together(tried, 100), {"a": 1, "b": 2})
        self.assertEqual(flags.together(tried[1:3], 100), {})  # one flag alone is a row already
        self.assertEqual(flags.together(tried, None), {})

    def test_a_limit_is_what_is_taken_of_the_chip(self):
        limit, _ = flags.limits(10, 16)
        self.assertEqual((limit.id, list(limit.options.values())), ("memory_limit", [6]))
        self.assertEqual([one.id for one in flags.limits(16, 16)], ["compiler_rematerialization"])
        self.assertEqual([one.id for one in flags.limits(10, None)], ["compiler_rematerialization"])

    def test_a_gpu_has_its_own_way_to_rematerialize_and_no_limit_in_bytes(self):
        [only] = flags.limits(10, 16, "gpu")
        self.assertEqual(only.id, "compiler_rematerialization")
        self.assertEqual(only.options, {"xla_gpu_memory_limit_slop_factor": 1})
        self.assertEqual(flags.limits(10, 16, "cpu"), [])


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def put(self, *names, below=""):
        (self.folder / below).mkdir(parents=True, exist_ok=True)
        for name in names:
            (self.folder / below / name).touch()

    def found(self, module, session="", told=None):
        return os.path.relpath(sources.source_of(str(self.folder), session, module, told).path, self.folder)

    def test_the_number_tells_which(self):
        names = [BEFORE.format(number, "jit_f", "hlo.pb") for number in (3, 39)]
        self.put(*names, BEFORE.format(50, "jit_g", "hlo.pb"))
        self.assertEqual(self.found("jit_f(3)"), names[0])
        self.assertEqual(self.found("jit_f(123456)"), names[1])  # of a profile: the last that was compiled

    def test_a_proto_rather_than_text(self):
        self.put(BEFORE.format(1, "jit_f", "txt"))
        self.assertEqual(self.found("jit_f(1)"), BEFORE.format(1, "jit_f", "txt"))
        self.put(BEFORE.format(1, "jit_f", "hlo.pb") + ".gz")
        self.assertEqual(self.found("jit_f(1)"), BEFORE.format(1, "jit_f", "hlo.pb") + ".gz")

    def test_a_session_of_a_log_directory(self):
        name = BEFORE.format(1, "jit_f", "hlo.pb")
        for below in ("a", "plugins/profile/b"):
            self.put(name, below=below)
            self.assertEqual(self.found("jit_f(1)", below.split("/")[-1]), f"{below}/{name}")
        self.assertEqual(self.found("jit_f(1)", told=str(self.folder / "a")), f"a/{name}")

    def test_whose_compiler_it_was(self):
        for number, after, backend in [(1, "after_optimizations.txt", None), (2, "cpu_after_optimizations.txt", "cpu"),
                                       (3, "sm_9.0_gpu_after_optimizations.txt", "gpu")]:
            self.put(f"module_000{number}.jit_f.before_optimizations.hlo.pb", f"module_000{number}.jit_f.{after}")
            self.assertEqual(sources.source_of(str(self.folder), "", f"jit_f({number})", None).backend, backend)

    def test_what_is_no_such_file(self):
        self.put("module_0001.jit_f.cl_1.after_optimizations.hlo.pb",
                 "module_0001.jit_f.cl_1.after_optimizations_before_buffer_assignment.hlo.pb")
        with self.assertRaisesRegex(hbmview.HbmviewError, "before_optimizations.hlo.pb"):
            self.found("jit_f(1)")
        with self.assertRaisesRegex(hbmview.HbmviewError, "not on this machine"):
            sources.source_of("gs://bucket/run", "", "jit_f(1)", None)


if __name__ == "__main__":
    unittest.main()
