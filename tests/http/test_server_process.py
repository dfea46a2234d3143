"""The program as a process: start, stop, exit codes, a large log directory, and never a write into it."""
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from log_folders import folder, listing, xplane
from server_fixture import STOP_SECONDS, Server, program

# Starts a server that writes to the pipe it was given, and then does nothing at all.
STARTER = """
import subprocess, sys
server = subprocess.Popen([sys.argv[1], "--port=0", "--exit_with_stdin"], stdin=subprocess.PIPE,
                          stdout=int(sys.argv[2]), stderr=subprocess.DEVNULL)
print(server.pid, flush=True)
server.wait()
"""


def run(*arguments):
    return subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True, timeout=60)


class ExitCodes(unittest.TestCase):
    def refused(self, code, words, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result)
        self.assertIn(words, result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_usage(self):
        self.refused(2, "did you mean --port?", "--prot=1")
        self.refused(2, "number", "--port=x")
        self.refused(2, "--logdir=", "some_word")
        self.refused(2, "Cannot listen on 203.0.113.77", "--host=203.0.113.77", "--port=0")

    def test_missing_logdir(self):
        self.refused(3, "plugins/profile", "--logdir=/no/such/folder", "--port=0")
        self.refused(3, "gs://bucket/prefix", "--logdir=hdfs://bucket/logs", "--port=0")
        self.refused(3, "neither a folder nor a file", "--logdir=/dev/null", "--port=0")

    def test_unreadable_logdir(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")
        with tempfile.TemporaryDirectory() as root:
            os.chmod(root, 0)
            self.refused(3, "permissions", f"--logdir={root}", "--port=0")

    def test_taken_port(self):
        with Server() as server:
            self.refused(2, f"Port {server.port} is taken", f"--port={server.port}")

    def test_help_and_version(self):
        for flag, words in (("--help", "--logdir"), ("--version", "hbmview ")):
            result = run(flag)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn(words, result.stdout)


class Life(unittest.TestCase):
    def test_goes_on_under_nohup(self):
        with Server() as server:
            server.stop()
            server.command = ["nohup", *server.command]
            server.url = None
            server.start()
            server.process.send_signal(signal.SIGHUP)
            self.assertEqual([server.get("/healthz").status for _ in range(20)], [200] * 20)

    def test_stops_on_each_signal(self):
        before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup, around these tests, ignores it for all below
        self.addCleanup(signal.signal, signal.SIGHUP, before)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            server = Server()
            server.start()
            server.get("/api/v1/modules", {"session": "h100_programs"})
            self.assertEqual(server.stop(number), 0)

    def test_stops_with_open_connections(self):
        import socket
        server = Server()
        server.start()
        idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
        self.assertEqual(server.stop(), 0)
        for connection in idle:
            connection.close()

    def test_ends_with_stdin(self):
        server = Server("--exit_with_stdin", stdin=subprocess.PIPE)
        server.start()
        self.addCleanup(server.process.kill)
        server.process.stdin.write("nobody reads this\n")
        server.process.stdin.flush()
        self.assertEqual(server.get("/healthz").status, 200)
        server.process.stdin.close()
        self.assertEqual(server.process.wait(STOP_SECONDS), 0)

    def test_ends_with_the_program_that_started_it_even_by_kill_9(self):
        told, tells = os.pipe()
        starter = subprocess.Popen([sys.executable, "-c", STARTER, program(), str(tells)], stdout=subprocess.PIPE,
                                   pass_fds=[tells])
        os.close(tells)
        with os.fdopen(told) as lines:
            self.assertIn("hbmview is ready", lines.readline())
            with starter.stdout:
                server = int(starter.stdout.readline())
            starter.kill()
            starter.wait()
            end = select.poll()
            end.register(told, 0)  # no word, only its end: the last process that held the pipe is gone
            ended = end.poll(STOP_SECONDS * 1000)
            if not ended:
                os.kill(server, signal.SIGKILL)  # or it would outlive this test as well
            self.assertEqual(ended, [(told, select.POLLHUP)])

    def test_stdin_that_ends_is_nothing_to_others(self):
        server = Server(stdin=subprocess.DEVNULL)
        server.start()
        self.assertEqual(server.get("/healthz").status, 200)
        self.assertEqual(server.stop(), 0)

    def test_closed_streams_are_not_another_ones_number(self):
        """What is printed on stderr would go to whoever has number 2."""
        command = ["sh", "-c", 'exec "$0" --port=0 <&- 2>&-', program()]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.kill)
        self.assertIn("hbmview is ready", server.stdout.readline())
        self.assertEqual({os.readlink(f"/proc/{server.pid}/fd/{number}") for number in (0, 2)}, {os.devnull})
        server.terminate()
        self.assertEqual(server.wait(STOP_SECONDS), 0)

    def test_no_descriptor_left_is_no_fault_of_a_file(self):
        """And nothing of it is kept: once there are some, the same question is answered."""
        view = "/api/v1/memory_view?session=v5e_matmul&module=jit__lambda(1)"
        with Server() as server, contextlib.closing(server.connection()) as connection:
            def ask(path):
                connection.request("GET", path)
                reply = connection.getresponse()
                return reply.status, json.loads(reply.read())
            self.assertEqual(ask("/api/v1/server")[0], 200)
            _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
            taken = {int(number) for number in os.listdir(f"/proc/{server.process.pid}/fd")}
            first_free = next(number for number in itertools.count() if number not in taken)
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (first_free, hard))
            for path in (view, "/api/v1/sessions", "/api/v1/memory_profile?session=tf_tiny"):
                status, body = ask(path)
                self.assertEqual((status, body["error"]["code"], body["error"]["file"]), (503, "out_of_memory", None))
                self.assertIn("file descriptor", body["error"]["message"])
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (hard, hard))
            self.assertEqual(ask(view)[0], 200)
            self.assertEqual(ask("/api/v1/sessions")[1]["left_out"], [])

    def test_a_log_that_nobody_reads_holds_nobody_up(self):
        """More of it than a pipe and the server keep: all requests are answered, and the end tells how many are not in
        it."""
        command = [*Server().command, "--verbose"]
        asked, long_path = 400, "/" + "x" * 4000
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for end in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(end)
        port = re.search(r":(\d+)/", process.stdout.readline())[1]
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(port), timeout=20)) as connection:
            for _ in range(asked):
                connection.request("GET", long_path)
                answer = connection.getresponse()
                self.assertEqual((answer.status, answer.read() != b""), (200, True))
        process.terminate()
        told = process.stderr.read()
        process.wait()
        self.assertEqual(process.returncode, 0)
        left_out = sum(map(int, re.findall(r"^(\d+) lines? left out$", told, re.M)))
        self.assertGreater(left_out, 0)
        self.assertEqual(told.count("GET /xxx") + left_out, asked)

    def test_serves_a_sample_without_logdir(self):
        with Server(logdir=None) as server:
            listed = server.get("/api/v1/sessions").json()
            self.assertEqual([s["name"] for s in listed["sessions"]], ["sample"])
            self.assertTrue(listed["sample"])
            modules = server.get("/api/v1/modules", {"session": "sample"}).json()
            self.assertEqual(len(modules["modules"]), 1)
            self.assertIsNone(modules["hosts"][0]["error"])
            self.assertIn("sample", " ".join(server.printed))

    def test_lists_ten_thousand_sessions(self):
        data = xplane("v5e_matmul")
        in_memory = "/dev/shm" if os.path.isdir("/dev/shm") else None  # 20 000 files: seconds on a busy disk
        with tempfile.TemporaryDirectory(dir=in_memory) as root:
            profiles = pathlib.Path(root, "plugins", "profile")
            profiles.mkdir(parents=True)
            original = profiles / "session_00000"
            original.mkdir()
            (original / "vm.xplane.pb").write_bytes(data)
            for i in range(1, 10_000):
                session = profiles / f"session_{i:05}"
                session.mkdir()
                os.link(original / "vm.xplane.pb", session / "vm.xplane.pb")
            os.utime(original / "vm.xplane.pb", (1_700_000_000, 1_700_000_000))
            with Server(logdir=root) as server:
                runs = server.get("/runs").json()
                self.assertEqual(len(runs), 10_000)
                self.assertEqual(runs[0], "session_09999")
                modules = server.get("/api/v1/modules", {"session": "session_05000"})
                self.assertEqual(len(modules.json()["modules"]), 1)

    def test_never_writes_into_the_logdir(self):
        with folder({"a/vm.xplane.pb": xplane("h100_programs"), "b/vm.xplane.pb": b"broken"}) as root:
            before = listing(root)
            with Server(logdir=root) as server:
                for session in ("a", "b"):
                    server.get("/data/plugin/profile/run_tools", {"run": session})
                    server.get("/data/plugin/profile/module_list", {"run": session})
                    for _ in range(200):
                        if server.get("/api/v1/modules", {"session": session}).json()["complete"]:
                            break
                        time.sleep(0.02)
            self.assertEqual(listing(root), before)


if __name__ == "__main__":
    unittest.main()
