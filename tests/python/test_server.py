"""hbmview.Server and hbmview.show: the page of a log directory, as long as somebody holds it."""
import contextlib
import io
import json
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import types
import unittest
import urllib.request
from unittest import mock

from package import PROFILES, REPO, hbmview

END_SECONDS = 60

# Holds a server, writes where it is, and does nothing more. Its last line is the end of the pipe.
HOLDER = """
import sys
sys.path.insert(0, sys.argv[1])
import hbmview
server = hbmview.Server(verbose=True).start()  # verbose: stderr, the pipe, is the program's as well
print("held:", server.pid, server.url, file=sys.stderr, flush=True)
server.wait()
"""

# A script of a user's: what it prints is all there is to see.
SCRIPT = """
import signal
import sys
sys.path.insert(0, sys.argv[1])
import hbmview
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it: nohup does
hbmview.show(sys.argv[2], session="v5e_gpt_4layer", block=sys.argv[3] == "block")
"""


def answer(address):
    with urllib.request.urlopen(address) as reply:
        return reply.read()


def has_ended(pipe):
    """Waits for the end of the last process that writes there."""
    end = select.poll()
    end.register(pipe, 0)
    return end.poll(END_SECONDS * 1000) == [(pipe.fileno(), select.POLLHUP)]


class Served(unittest.TestCase):
    def test_it_answers_in_the_block_and_no_longer(self):
        with hbmview.Server(PROFILES.parent.parent) as server:
            self.assertTrue(server.is_running)
            self.assertEqual(server.url, f"http://localhost:{server.port}/")
            sessions = json.loads(answer(server.address("api/v1/sessions")))
            self.assertIn("v5e_gpt_4layer", [one["name"] for one in sessions["sessions"]])
            modules = json.loads(answer(server.address("api/v1/modules", session="v5e_gpt_4layer", host=None)))
            self.assertEqual(modules["modules"][0]["name"], "jit_train_step(1)")
            address = server.url
        self.assertFalse(server.is_running)
        self.assertEqual((server.pid, server.port, server.url), (None, None, ""))
        with self.assertRaises(OSError):
            answer(address)

    def test_two_at_once_and_one_twice(self):
        with hbmview.Server() as one, hbmview.Server() as other:
            self.assertNotEqual(one.port, other.port)
        with one:
            self.assertEqual(answer(one.address("healthz")), b"ok\n")
            first = one.pid
            self.assertEqual(one.start().pid, first)

    def test_addresses_carry_the_token_where_there_is_one(self):
        with mock.patch.dict(os.environ, HBMVIEW_TOKEN="0123456789abcdef"), hbmview.Server() as server:
            self.assertEqual(server.token, "0123456789abcdef")
            self.assertTrue(answer(server.address("api/v1/sessions")))
            with self.assertRaises(urllib.error.HTTPError):
                answer(f"http://localhost:{server.port}/api/v1/sessions")

    def test_a_socket_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "hbmview.sock")
            with hbmview.Server(unix_socket=path) as server:
                self.assertEqual((server.url, server.port), (f"unix:{path}", None))
                self.assertTrue(path.is_socket())
            self.assertFalse(path.exists())

    def test_what_the_program_says_is_raised(self):
        with self.assertRaisesRegex(hbmview.ReadError, "There is no /nonexistent"):
            hbmview.Server("/nonexistent").start()
        with self.assertRaisesRegex(hbmview.UsageError, "did you mean --follow_symlinks"):
            hbmview.Server(follow_symlink=True).start()

    def test_one_that_is_never_ready_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "hbmview")
            program.write_text("#!/bin/sh\nexec sleep 1000\n")
            program.chmod(0o755)
            server = hbmview.Server(start_timeout=0.2)
            with mock.patch.dict(os.environ, HBMVIEW=str(program)):
                with self.assertRaisesRegex(hbmview.HbmviewError, "not ready within 0.2 s"):
                    server.start()
            self.assertFalse(server.is_running)

    def test_one_that_nobody_holds_ends(self):
        server = hbmview.Server().start()
        process = server._process
        del server
        self.assertIsNotNone(process.poll())

    def test_no_program_outlives_a_python_that_is_killed(self):
        command = [sys.executable, "-c", HOLDER, str(REPO / "python")]
        holder = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        with holder.stderr:
            pid, url = next(line.split()[1:] for line in holder.stderr if line.startswith("held: "))
            self.assertEqual(answer(url + "healthz"), b"ok\n")
            self.assertNotEqual(int(pid), holder.pid)
            holder.kill()
            holder.wait()
            self.assertTrue(has_ended(holder.stderr))


class Shown(unittest.TestCase):
    def setUp(self):
        self.addCleanup(self.end_all)

    @staticmethod
    def end_all():
        for server in hbmview._show._kept.values():
            server.stop()
        hbmview._show._kept.clear()

    @staticmethod
    def said_by(*arguments, **options):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            hbmview.show(*arguments, block=False, **options)
        return said.getvalue()

    def test_a_terminal_is_told_the_address(self):
        said = self.said_by(PROFILES, session="v5e_gpt_4layer", tool="memory_profile")
        address = said.split()[-1]
        self.assertRegex(said, r"/profile at http://localhost:\d+/\?run=v5e_gpt_4layer&tag=memory_profile\n$")
        self.assertIn(b"<!doctype html>", answer(address).lower())

    def test_one_folder_has_one_server(self):
        first, again, other = (self.said_by(PROFILES), self.said_by(os.path.relpath(PROFILES)),
                               self.said_by(PROFILES, cache_mib=10))
        self.assertEqual(first.split()[-1], again.split()[-1])
        self.assertNotEqual(first.split()[-1], other.split()[-1])

    def script(self, mode):
        command = [sys.executable, "-c", SCRIPT, str(REPO / "python"), str(PROFILES), mode]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def test_a_script_waits_until_it_is_interrupted(self):
        script = self.script("block")
        self.addCleanup(script.kill)
        with script.stdout:
            line = script.stdout.readline()
            self.assertRegex(line, r"at http://localhost:\d+/\?run=v5e_gpt_4layer until Ctrl-C\n$")
            self.assertIsNone(script.poll())
            self.assertTrue(answer(line.split()[-3]))
            script.send_signal(2)
            self.assertEqual(script.wait(END_SECONDS), 0)
            self.assertTrue(has_ended(script.stdout))

    def test_colab_is_asked_for_a_frame(self):
        asked = []
        output = types.SimpleNamespace(
            serve_kernel_port_as_iframe=lambda port, path="/", width="100%", height="400", cache_in_notebook=False:
            asked.append((port, path, height)))
        stand_in = {"google": types.ModuleType("google"), "google.colab": types.SimpleNamespace(output=output)}
        stand_in["google"].colab = stand_in["google.colab"]
        with mock.patch.dict(sys.modules, stand_in):
            hbmview.show(PROFILES, 500, session="v5e_gpt_4layer")
        (port, path, height), = asked
        self.assertEqual((path, height), ("/?run=v5e_gpt_4layer", "500"))
        with urllib.request.urlopen(f"http://localhost:{port}/") as page:
            self.assertIn("https://colab.research.google.com", page.headers["Content-Security-Policy"])
        named = urllib.request.Request(f"http://localhost:{port}/", headers={"Host": "a-b.googleusercontent.com"})
        with urllib.request.urlopen(named) as page:
            self.assertEqual(page.status, 200)


if __name__ == "__main__":
    unittest.main()
