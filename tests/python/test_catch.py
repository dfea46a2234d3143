"""hbmview.catch: an out-of-memory exception is explained below its traceback, and is joined to what XLA dumped."""
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import types
import unittest
from unittest import mock

from package import FIXTURES, PROFILES, PROGRAM, REPO, hbmview
from hbmview import _dump

MESSAGE = (FIXTURES / "oom_messages" / "v5e_gpt_12layer_oom.txt").read_text()
SESSION = PROFILES / "v5e_gpt_12layer_oom"
DUMP = FIXTURES / "xla_dump" / "v5e_replicated_oom"  # and the message that went with it
DUMP_MESSAGE = FIXTURES / "oom_messages" / "v5e_replicated_oom.txt"

# What comes before each script: the package, the message, and a step that fails.
BEGIN = f"""
import os, re, sys
sys.path.insert(0, {str(REPO / "python")!r})
import hbmview
message = open({str(FIXTURES / "oom_messages" / "v5e_gpt_12layer_oom.txt")!r}).read()
def step():
    raise RuntimeError(message)
"""


def python(script, **environment):
    environment = {**os.environ, "HBMVIEW": PROGRAM, **environment}
    if "XLA_FLAGS" not in environment:
        environment.pop("XLA_FLAGS", None)
    return subprocess.run([sys.executable, "-c", BEGIN + textwrap.dedent(script)], env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class Explained(unittest.TestCase):
    def test_below_the_traceback(self):
        done = python(f"""
            with hbmview.catch({str(SESSION)!r}):
                step()
        """)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        traceback, explanation = done.stderr.split("E1000 compile_oom", 1)
        self.assertIn("Traceback (most recent call last)", traceback)
        self.assertIn("OVERFLOW by 37.18 GiB", explanation)
        self.assertIn("Who holds it at the peak, by line", explanation)  # read from the session

    def test_it_is_there_for_programs_too(self):
        with self.assertRaises(RuntimeError) as raised, hbmview.catch(SESSION) as caught:
            raise RuntimeError(MESSAGE)
        message = caught.explanation.document["messages"][0]
        self.assertEqual(message["needed_bytes"], 56_833_154_744)
        self.assertIsNotNone(message["module"])
        self.assertIn("OVERFLOW by 37.18 GiB", str(caught.explanation))
        self.assertIn("37.18 GiB", caught.explanation._repr_markdown_())
        if sys.version_info >= (3, 11):
            with self.assertLogs() as logged:
                logging.exception("the step failed", exc_info=raised.exception)
            self.assertIn("OVERFLOW by 37.18 GiB", logged.output[0])

    def test_another_exception_is_as_it_was(self):
        done = python("""
            with hbmview.catch() as caught:
                raise KeyError("colour")
        """)
        self.assertTrue(done.stderr.endswith("KeyError: 'colour'\n"), done.stderr)

    def test_what_is_caught_is_not_told(self):
        done = python("""
            try:
                with hbmview.catch() as caught:
                    step()
            except RuntimeError:
                print(caught.explanation is not None)
        """)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "True\n", ""))

    def test_a_function(self):
        done = python("""
            @hbmview.catch(capacity="v5p")
            def train():
                step()
            train()
        """)
        self.assertRegex(done.stderr, r"(?s)Traceback.*of 95\.\d\d GiB")

    def test_a_program_that_is_missing_is_said_and_hides_nothing(self):
        done = python("""
            with hbmview.catch():
                step()
        """, HBMVIEW="/nonexistent")
        self.assertIn("RuntimeError: ", done.stderr)
        self.assertIn("hbmview could not explain it: $HBMVIEW names /nonexistent", done.stderr)


class Dumps(unittest.TestCase):
    """XLA's part is played by the script: it writes where XLA_FLAGS says."""

    def test_the_dump_is_asked_for_joined_and_taken_away(self):
        done = python(f"""
            import shutil
            with hbmview.catch():
                print(os.environ["XLA_FLAGS"], flush=True)
                folder = re.search("--xla_dump_to=([^ ]+)", os.environ["XLA_FLAGS"])[1]
                shutil.copytree({str(DUMP)!r}, folder, dirs_exist_ok=True)
                raise RuntimeError(open({str(DUMP_MESSAGE)!r}).read())
        """, XLA_FLAGS="--xla_foo=1")
        self.assertRegex(done.stdout, r"^--xla_foo=1 --xla_dump_to=\S+ --xla_dump_hlo_as_proto\n$")
        folder = re.search(r"--xla_dump_to=(\S+)", done.stdout)[1]
        self.assertIn(f"The compiled programs are in {folder}", done.stderr)
        self.assertIn("Who holds it at the peak, by line", done.stderr)
        self.assertFalse(os.path.exists(folder))

    def test_the_users_own_folder_is_used_and_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(DUMP, folder, dirs_exist_ok=True)
            done = python(f"""
                with hbmview.catch():
                    raise RuntimeError(open({str(DUMP_MESSAGE)!r}).read())
            """, XLA_FLAGS=f"--xla_dump_to={folder}")
            self.assertIn(f"The compiled programs are in {folder}", done.stderr)
            self.assertNotIn("go when Python ends", done.stderr)
            self.assertIn("Who holds it at the peak, by line", done.stderr)
            self.assertTrue(os.listdir(folder))

    def test_an_empty_dump_is_said(self):
        done = python("""
            with hbmview.catch():
                step()
        """)
        self.assertIn("XLA left no program in ", done.stderr)

    def test_when_jax_has_begun_it_is_too_late(self):
        bridge = types.SimpleNamespace(_backends={"cpu": object()})
        with mock.patch.dict(os.environ), mock.patch.dict(sys.modules, {"jax._src.xla_bridge": bridge}):
            os.environ.pop("XLA_FLAGS", None)
            with mock.patch.object(_dump, "_own", []):
                dump = _dump.arranged()
            self.assertIsNone(dump.folder)
            self.assertIn("jax had begun", dump.remark)
            self.assertNotIn("XLA_FLAGS", os.environ)

    def test_programs_started_later_do_not_dump(self):
        bridge = types.SimpleNamespace(_backends={})
        with mock.patch.dict(os.environ, XLA_FLAGS="--xla_foo=1"), mock.patch.object(_dump, "_own", []), \
                mock.patch.dict(sys.modules, {"jax._src.xla_bridge": bridge}):
            first = _dump.arranged()
            _dump.end_asking()
            self.assertIn(first.folder, os.environ["XLA_FLAGS"])  # jax has yet to read it
            bridge._backends["cpu"] = object()
            _dump.end_asking()
            self.assertEqual(os.environ["XLA_FLAGS"], "--xla_foo=1")
            self.assertEqual(_dump.arranged(), first)  # XLA goes on writing there


if __name__ == "__main__":
    unittest.main()
