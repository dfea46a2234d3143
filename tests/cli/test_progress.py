"""Commands that take their time say on the terminal what they read; nowhere else, and it is gone at the end."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

from hbmview_command import FIXTURES, PROFILES, REPO, environment, program

sys.path.insert(0, str(REPO / "tests" / "http"))
from bucket_server import BucketServer  # noqa: E402

SECONDS = 120
SESSION = "v5e_matmul"


class Terminal:
    """Runs a command whose stderr is a terminal. `await_text` waits until that has shown a text."""

    def __init__(self, *arguments, more, columns=100):
        mine, its = pty.openpty()
        env = {**environment(COLUMNS=str(columns), TERM="xterm"), **more}
        self.process = subprocess.Popen([program(), *map(str, arguments)], cwd=REPO, env=env, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=its)
        os.close(its)
        self.shown, self.changed = "", threading.Condition()
        self.reader = threading.Thread(target=self.read, args=(mine,), daemon=True)
        self.reader.start()

    def read(self, terminal):
        while True:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                data = b""
            with self.changed:
                self.shown += data.decode()
                self.changed.notify_all()
            if not data:
                return os.close(terminal)

    def await_text(self, pattern):
        with self.changed:
            found = self.changed.wait_for(lambda: re.search(pattern, self.shown) or not self.reader.is_alive(), SECONDS)
        if not found or not re.search(pattern, self.shown):
            raise AssertionError(f"the terminal never showed {pattern!r}: {self.shown!r}")

    def end(self):
        out, _ = self.process.communicate(timeout=SECONDS)
        self.reader.join(SECONDS)
        return self.process.returncode, out.decode()


def screen(shown):
    """What is left on a terminal, by line: text overwrites what stands there."""
    lines, column = [[]], 0
    for c in shown:
        if c == "\r":
            column = 0
        elif c == "\n":
            lines.append([])
        else:
            lines[-1][column:column + 1] = [c]
            column += 1
    return [("".join(line)).rstrip() for line in lines]


class Progress(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for session in (SESSION, "v5e_padded"):
            shutil.copytree(PROFILES / session, folder / "run" / "plugins" / "profile" / session)
        self.bucket = self.enterContext(BucketServer(folder))
        self.held = threading.Event()
        self.addCleanup(self.held.set)

    def hold(self, pattern):
        """Requests like this are answered when the test lets them go."""
        self.bucket.fault = lambda request: re.search(pattern, request.path) and self.held.wait(SECONDS) and None

    def start(self, *arguments, columns=100, **more):
        return Terminal(*arguments, more={**self.bucket.environment("s3"), **more}, columns=columns)

    def url(self):
        return self.bucket.url("s3", "run")

    def check_gone(self, terminal, expected):
        code, out = terminal.end()
        self.assertEqual(code, 0, terminal.shown)
        self.assertIn(expected, out)
        self.assertEqual([line for line in screen(terminal.shown) if line], [])
        self.assertNotIn("\x1b", terminal.shown)

    def test_a_report_says_what_it_reads(self):
        self.hold(f"/{SESSION}/")
        terminal = self.start("report", self.url())
        terminal.await_text(r"session [12] of 2: reading s3://bucket/run/.*xplane[.]pb")
        self.held.set()
        self.check_gone(terminal, SESSION)

    def test_a_line_is_no_wider_than_the_terminal(self):
        self.hold(f"/{SESSION}/")
        terminal = self.start("report", self.url(), columns=60)
        terminal.await_text("reading s3://")
        self.held.set()
        self.check_gone(terminal, SESSION)
        self.assertLess(max(map(len, terminal.shown.split("\r"))), 60)

    def test_advise_diff_and_explain_say_it_too(self):
        where = f"{self.url()}/plugins/profile/{SESSION}"
        message = FIXTURES / "oom_messages" / "v5e_readme_oom.txt"
        for arguments, expected in ((("advise", where), "jit"), (("diff", where, where), "jit"),
                                    (("explain", message, f"--logdir={self.url()}"), "v5e_readme_oom")):
            with self.subTest(arguments[0]):
                self.held.clear()
                self.hold("xplane")
                terminal = self.start(*arguments)
                terminal.await_text(r"reading s3://bucket/run/.*xplane[.]pb")
                self.held.set()
                code, out = terminal.end()
                self.assertEqual(code, 0, (terminal.shown, out))
                self.assertEqual([line for line in screen(terminal.shown) if "reading" in line], [])

    def test_a_warning_stands_on_a_line_of_its_own(self):
        self.hold(f"/{SESSION}/")
        terminal = self.start("report", self.url(), "--fail-over=1B", "--format=csv")
        terminal.await_text("reading s3://")
        self.held.set()
        code, _ = terminal.end()
        self.assertEqual(code, 1, terminal.shown)
        lines = [line for line in screen(terminal.shown) if line]
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, r"^hbmview: .* is above 1 B \(1\)\.$")

    def test_a_dumb_terminal_and_a_file_get_nothing(self):
        self.bucket.wait_s = 0.3  # so that all of it takes far more than a second
        terminal = self.start("report", self.url(), TERM="dumb")
        self.assertEqual(terminal.end()[0], 0)
        self.assertEqual(terminal.shown, "")
        done = subprocess.run([program(), "report", self.url()], cwd=REPO, capture_output=True, timeout=SECONDS,
                              env={**environment(TERM="xterm"), **self.bucket.environment("s3")}, check=True)
        self.assertEqual(done.stderr, b"")


if __name__ == "__main__":
    unittest.main()
