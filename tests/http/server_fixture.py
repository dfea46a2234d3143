"""Starts the real program on a free port and stops it as a user would, by Ctrl-C.

    with Server() as server:                                  # serves tests/fixtures/logdir
        answer = server.get("/api/v1/sessions")
        answer.status, answer.headers["ETag"], answer.json()

The program is $HBMVIEW (default build/hbmview). Leaving the block sends SIGINT and demands exit code 0, so every test
also checks that the program ends cleanly (under a sanitizer: that nothing was reported).
"""
import gzip
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
READY_SECONDS = 60
STOP_SECONDS = 60
ANSWER_SECONDS = 120
COMPLETE_SECONDS = 600
# Under a sanitizer the program has memory of its own kind, and takes ten times as long.
UNDER = shlex.split(os.environ.get("UNDER", ""))  # valgrind and its arguments
INSTRUMENTED = bool(UNDER) or re.search(r"/(asan|tsan|ubsan)/", os.environ.get("HBMVIEW", "")) is not None


def program():
    return str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())


class Answer:
    """One HTTP answer; `body` is inflated, `raw` is as it came."""

    def __init__(self, status, headers, raw):
        self.status, self.headers, self.raw = status, headers, raw
        self.body = gzip.decompress(raw) if headers.get("Content-Encoding") == "gzip" else raw

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status}, {len(self.body)} bytes: {self.body[:200]!r}>"


def until_complete():
    """Goes on until what comes bit by bit should be there."""
    last = time.monotonic() + COMPLETE_SECONDS
    while time.monotonic() < last:
        yield
    raise AssertionError(f"not complete after {COMPLETE_SECONDS} s")


class Server:
    def __init__(self, *arguments, logdir=FIXTURES / "logdir", environment=None, stdin=None, tls=None):
        """`arguments` come after --logdir (none when logdir is None) and --port=0. `tls`: certificate and key."""
        self.environment = environment
        self.stdin = stdin
        logdir_flag = [] if logdir is None else [f"--logdir={logdir}"]
        self.command = [*UNDER, program(), *logdir_flag, "--port=0", *map(str, arguments)]
        self.context = None
        if tls:
            self.command += [f"--tls_cert={tls[0]}", f"--tls_key={tls[1]}"]
            self.context = ssl.create_default_context(cafile=tls[0])
        self.url = None
        self.printed = []
        self.exit_code = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        code = self.stop()
        if kind is None and code != 0:
            raise AssertionError(f"{self.command[0]} ended with {code}, not 0:\n{self.errors()}")

    def start(self):
        self.stderr = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdin=self.stdin, stdout=subprocess.PIPE, stderr=self.stderr,
                                        text=True, cwd=REPO, env=self.environment)
        ready = threading.Event()
        threading.Thread(target=self._read_stdout, args=(ready,), daemon=True).start()
        ready.wait(READY_SECONDS)
        if self.url is None:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"{' '.join(self.command)}: no URL on stdout: {self.printed}\n{self.errors()}")

    def refusal(self):
        """What it says when it ends by itself. It may have begun to serve: a log directory is looked at meanwhile."""
        done = subprocess.run(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=REPO,
                              env=self.environment, timeout=READY_SECONDS, check=False)
        if done.returncode == 0:
            raise AssertionError(f"{' '.join(self.command)} ended with 0, not refused:\n{done.stderr}")
        return done.stderr

    def _read_stdout(self, ready):
        for line in self.process.stdout:
            self.printed.append(line.rstrip("\n"))
            found = re.search(r"https?://\S+", line)
            if found and self.url is None:
                self.url = found.group(0)
                ready.set()
        ready.set()

    def stop(self, with_signal=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            self.exit_code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"still running {STOP_SECONDS} s after {with_signal!r}\n{self.errors()}") from None
        return self.exit_code

    def errors(self):
        """Read without a seek: the program writes where this file stands."""
        size = os.fstat(self.stderr.fileno()).st_size
        return os.pread(self.stderr.fileno(), size, 0).decode(errors="replace")[-4000:]

    @property
    def port(self):
        return urllib.parse.urlsplit(self.url).port

    def connection(self, timeout=ANSWER_SECONDS):
        if self.context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def connect(self, timeout=None):
        """A socket to it; of a server that encrypts, after the handshake."""
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return self.context.wrap_socket(plain, server_hostname="127.0.0.1") if self.context else plain

    def request(self, method, target, headers=None, body=None):
        """`target` is sent as it is: hostile paths stay hostile."""
        connection = self.connection()
        try:
            connection.request(method, target, body=body, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def overview(self, session):
        """The Memory Profile's overview, asked for until every host has been read."""
        for _ in until_complete():
            answer = self.get("/api/v1/memory_profile", {"session": session})
            if answer.status != 200 or answer.json()["complete"]:
                return answer

    def whole_list(self, session):
        """The session's modules, asked for until each has its figures."""
        for _ in until_complete():
            listed = self.get("/api/v1/modules", {"session": session}).json()
            if listed["complete"]:
                return listed

    def get(self, path, query=None, headers=None):
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        return self.request("GET", target, headers)


class FixturesServed(unittest.TestCase):
    """Tests of one server on the fixtures' log directory."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)


class ServedCase(FixturesServed):
    """The same of one document: `ask` is for that at `path`, of `query` at least."""
    path, query = "/", {}

    def answer(self, **query):
        return self.server.get(self.path, {**self.query, **query})

    def ask(self, **query):
        answer = self.answer(**query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()
