"""The cage around the server: what it holds to while it serves (server/sandbox). What it refuses, from inside, is in
tests/unit/test_server_sandbox.c; all other tests of this folder run in it."""
import http.client
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from server_fixture import FIXTURES, Server, program

STATES = ("NoNewPrivs", "Seccomp")


def states(process_id):
    """What the kernel says of each thread: ("1", "2") in the sandbox."""
    found = set()
    for thread in pathlib.Path(f"/proc/{process_id}/task").iterdir():
        lines = dict(line.split(":\t", 1) for line in (thread / "status").read_text().splitlines())
        found.add(tuple(lines[name] for name in STATES))
    return found


def line_of(server):
    return re.search(r"^Sandbox: .*$", server.errors(), re.M)[0]


def is_instrumented():
    with Server("--verbose") as server:
        return "instrumented" in line_of(server)


def has_landlock():
    with Server("--verbose") as server:
        return "(landlock " in line_of(server) and "landlock: " not in line_of(server)


class Words(unittest.TestCase):
    def test_one_line_says_what_holds(self):
        held = "starts no programs, opens no connections, writes no files (seccomp)"
        files = str(FIXTURES / "logdir") if has_landlock() else "whatever its user can"
        with Server("--verbose") as server:
            server.get("/api/v1/sessions")
            self.assertEqual(server.errors().count("Sandbox: "), 1)
            for part in ("instrumented",) if is_instrumented() else (held, files):
                self.assertIn(part, line_of(server))
        is_told = not has_landlock() and not is_instrumented()  # not to be missed where a part does not hold
        with Server() as server:
            self.assertEqual(server.errors().count("Sandbox: "), is_told)

    def test_it_can_be_turned_off(self):
        with Server("--no_sandbox", "--verbose") as server:
            self.assertEqual(states(server.process.pid), {("0", "0")})
            self.assertEqual(line_of(server), "Sandbox: none (--no_sandbox).")


class Sandbox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if is_instrumented():
            raise unittest.SkipTest("an instrumented build has no sandbox")

    def test_every_thread_is_in_it_before_and_after_requests(self):
        with Server() as server:
            self.assertEqual(states(server.process.pid), {("1", "2")})
            server.get("/api/v1/modules", {"session": "h100_programs"})
            self.assertEqual(states(server.process.pid), {("1", "2")})

    def test_a_bucket_takes_connections_and_its_cache_a_folder(self):
        with tempfile.TemporaryDirectory() as cache:
            with Server("--verbose", f"--disk_cache={cache}", logdir="gs://bucket/run",
                        environment={**os.environ, "STORAGE_EMULATOR_HOST": "http://localhost:1"}) as server:
                line = line_of(server)
        self.assertIn("starts no programs (seccomp)", line)
        if has_landlock():
            self.assertRegex(line, f"; writes only to {re.escape(cache)} ")


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if is_instrumented() or not has_landlock():
            raise unittest.SkipTest("no landlock")

    def test_a_single_file_is_all_that_is_read(self):
        file = FIXTURES / "logdir/plugins/profile/v5e_matmul/tpu-vm-0.xplane.pb.gz"
        with Server("--verbose", logdir=file) as server:
            self.assertIn(f"opens only {file} (landlock", line_of(server))
            session = server.get("/api/v1/sessions").json()["sessions"][0]["name"]
            modules = server.get("/api/v1/modules", {"session": session}).json()["modules"]
            self.assertEqual(len(modules), 1)

    def test_what_comes_later_is_read(self):
        with tempfile.TemporaryDirectory() as root, Server(logdir=root) as server:
            self.assertEqual(server.get("/api/v1/sessions").json()["sessions"], [])
            shutil.copytree(FIXTURES / "logdir/plugins/profile/v5e_matmul", f"{root}/plugins/profile/later")
            self.assertEqual([one["name"] for one in server.get("/api/v1/sessions").json()["sessions"]], ["later"])
            self.assertEqual(len(server.get("/api/v1/modules", {"session": "later"}).json()["modules"]), 1)

    def test_a_replaced_log_directory_says_what_to_do(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "logs")
            shutil.copytree(FIXTURES / "logdir/plugins/profile/v5e_matmul", root / "plugins/profile/first")
            with Server(logdir=root) as server:
                self.assertEqual(server.get("/api/v1/sessions").status, 200)
                root.rename(f"{folder}/old")
                shutil.copytree(f"{folder}/old", root)
                error = server.get("/api/v1/sessions").json()["error"]
                self.assertIn("start the server again, or with --no_sandbox", error["message"])

    def test_a_socket_file_goes_and_its_neighbours_could_not_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/hbmview.sock"
            command = [program(), f"--logdir={FIXTURES / 'logdir'}", f"--unix_socket={path}", "--verbose"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                process.stdout.readline()
                client = socket.socket(socket.AF_UNIX)
                client.connect(path)
                client.sendall(b"GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                answer = http.client.HTTPResponse(client)
                answer.begin()
                self.assertEqual(answer.status, 200)
                client.close()
                process.send_signal(signal.SIGTERM)
                errors = process.stderr.read()
            self.assertEqual(process.returncode, 0, errors)
            self.assertFalse(os.path.exists(path))
            self.assertIn(f"; removes files only of {folder} (landlock", errors)


if __name__ == "__main__":
    unittest.main()
