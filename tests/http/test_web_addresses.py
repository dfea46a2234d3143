"""Single profiles on web servers: with ranges and without, versions, redirects, addresses that are secrets."""
import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import unittest
import urllib.parse
from email.utils import formatdate

from server_fixture import FIXTURES, REPO, Server, program

MATMUL = FIXTURES / "logdir/plugins/profile/v5e_matmul/tpu-vm-0.xplane.pb.gz"
PADDED = FIXTURES / "logdir/plugins/profile/v5e_padded/tpu-vm-0.xplane.pb.gz"
PLAIN, NOT_DONATED = (FIXTURES / "compare" / f"{name}.hlo.pb.gz" for name in ("plain", "not_donated"))
MEMORY = FIXTURES / "device_memory" / "two_devices.memory.prof"


class WebServer:
    """Files by their names. `tells`: what it says of versions: "etag", "date" or "". `requests`: (path, status)."""

    def __init__(self, files, has_ranges=True, tells="etag"):
        self.files = {name: pathlib.Path(path).read_bytes() for name, path in files.items()}
        self.has_ranges, self.tells, self.requests, self.fault = has_ranges, tells, [], None

    def __enter__(self):
        handler = type("Handler", (Handler,), {"web": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def origin(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def url(self, name):
        return f"{self.origin}/{urllib.parse.quote(name)}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, headers, body=b""):
        self.web.requests.append((self.path, status))
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def version(self, content):
        hashed = hashlib.md5(content).hexdigest()
        return {"etag": {"ETag": f'"{hashed}"'}, "": {},
                "date": {"Last-Modified": formatdate(int(hashed[:7], 16), usegmt=True)}}[self.web.tells]

    def do_GET(self):
        fault = self.web.fault and self.web.fault(self)
        if fault:
            return self.answer(*fault)
        content = self.web.files.get(urllib.parse.unquote(self.path.partition("?")[0][1:]))
        if content is None:
            return self.answer(404, {})
        version = self.version(content)
        told = next(iter(version.values()), None)
        if told and told in (self.headers["If-None-Match"], self.headers["If-Modified-Since"]):
            return self.answer(304, version)
        for name in ("If-Match", "If-Unmodified-Since"):
            if self.headers[name] and self.headers[name] != told:
                return self.answer(412, version)
        if not self.web.has_ranges:
            return self.answer(200, version, content)
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        part = content[first:last + 1]
        return self.answer(206, {**version, "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}"},
                           part)


def run(*arguments):
    return subprocess.run([program(), *map(str, arguments)], cwd=REPO, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)


class Addresses(unittest.TestCase):
    FILES = {"a/tpu-vm-0.xplane.pb.gz": MATMUL, "jit_f(1) ä+=.hlo.pb.gz": PLAIN, "b.hlo.pb.gz": NOT_DONATED,
             "two.memory.prof": MEMORY}

    def test_every_kind_of_file_by_every_kind_of_server(self):
        for has_ranges in (True, False):
            for tells in ("etag", "date", ""):
                with WebServer(self.FILES, has_ranges, tells) as web:
                    for name, path in self.FILES.items():
                        with tempfile.TemporaryDirectory() as folder, self.subTest(name, ranges=has_ranges, by=tells):
                            local = pathlib.Path(folder, urllib.parse.quote(pathlib.Path(name).name))
                            local.write_bytes(path.read_bytes())
                            here, there = (run("report", place, "--format=json") for place in (local, web.url(name)))
                            self.assertEqual(there.returncode, 0, there.stderr)
                            self.assertEqual(there.stdout.replace(web.url(name), str(local)), here.stdout)

    def test_commands(self):
        with WebServer(self.FILES) as web:
            a, b = web.url("jit_f(1) ä+=.hlo.pb.gz"), web.url("b.hlo.pb.gz")
            here, there = (json.loads(run("diff", *sides, "--format=json").stdout)
                           for sides in ((PLAIN, NOT_DONATED), (a, b)))
            for told in (here, there):  # a session is called as its file is
                told["a"].pop("session"), told["b"].pop("session")
            self.assertEqual(there, here)
            self.assertEqual(run("advise", a, "--capacity=v5e").returncode, 0)
            message = FIXTURES / "oom_messages" / "v5e_readme_oom.txt"
            self.assertEqual(run("explain", message, f"--logdir={a}").returncode, 0)

    def test_the_server_shows_it(self):
        for has_ranges in (True, False):
            with WebServer(self.FILES, has_ranges) as web, \
                    Server(logdir=web.url("a/tpu-vm-0.xplane.pb.gz")) as server, Server(logdir=MATMUL) as local:
                [session] = server.get("/api/v1/sessions").json()["sessions"]
                query = {"session": session["name"], "module": "jit__lambda(1)"}
                here, there = (one.get("/api/v1/memory_view", query) for one in (local, server))
                self.assertEqual(there.status, 200)
                self.assertEqual(there.body, here.body)

    def test_a_server_without_ranges_sends_it_once(self):
        for tells in ("etag", "date", ""):
            with WebServer(self.FILES, has_ranges=False, tells=tells) as web:
                self.assertEqual(run("report", web.url("b.hlo.pb.gz")).returncode, 0)
                self.assertEqual([status for _, status in web.requests].count(200), 1)


class Versions(unittest.TestCase):
    def test_a_replaced_file_is_one_version_or_the_other(self):
        for has_ranges, tells in ((True, "etag"), (False, "date")):
            with WebServer({"x.xplane.pb.gz": MATMUL}, has_ranges, tells) as web, \
                    Server(logdir=web.url("x.xplane.pb.gz")) as server:
                [session] = server.get("/api/v1/sessions").json()["sessions"]
                web.files["x.xplane.pb.gz"] = PADDED.read_bytes()
                names = None
                while names != ["jit_f(1)"]:
                    answer = server.get("/api/v1/modules", {"session": session["name"]})
                    if "replaced" in answer.body.decode():
                        continue
                    names = [module["name"] for module in answer.json()["modules"]]
                    self.assertIn(names, (["jit__lambda(1)"], ["jit_f(1)"]))

    def test_a_server_that_ignores_conditions_gives_no_mixture(self):
        """The first range is of one file, what follows of another one of the same size."""
        content = MATMUL.read_bytes()
        with WebServer({"x.xplane.pb.gz": MATMUL}) as web:
            def lie(handler):
                first, last = map(int, re.findall(r"\d+", handler.headers["Range"]))
                part = (content if last == 0 else bytes(len(content)))[first:last + 1]
                return 206, {"ETag": f'"{last == 0}"',
                             "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}"}, part

            web.fault = lie
            answer = run("report", web.url("x.xplane.pb.gz"))
            self.assertEqual(answer.returncode, 3)
            self.assertIn("replaced while it was read", answer.stderr)


class Refused(unittest.TestCase):
    def test_folders_and_passwords(self):
        for url in ("https://host", "https://host/", "http://host/run/", "https://user:secret@host/a.xplane.pb",
                    "https:///a.xplane.pb"):
            for arguments in (("report", url), (f"--logdir={url}",)):
                answer = run(*arguments)
                self.assertNotEqual(answer.returncode, 0)
                self.assertIn("address of one file", answer.stderr, arguments)

    def test_what_is_not_there(self):
        with WebServer({}) as web:
            answer = run("report", web.url("gone.xplane.pb"))
            self.assertEqual(answer.returncode, 3)
            self.assertIn(web.url("gone.xplane.pb"), answer.stderr)

    def test_no_access(self):
        with WebServer({}) as web:
            web.fault = lambda handler: (403, {})
            answer = run("report", web.url("a.xplane.pb"))
            self.assertEqual(answer.returncode, 3)
            for word in ("403", "No credentials are sent", "download it"):
                self.assertIn(word, answer.stderr)

    def test_a_signed_address_that_ended(self):
        with WebServer({}) as web:  # as S3 tells it
            web.fault = lambda handler: (400, {}, b"<Error><Code>ExpiredToken</Code></Error>")
            answer = run("report", web.url("a.xplane.pb"))
            self.assertEqual(answer.returncode, 3)
            self.assertIn("status 400, ExpiredToken", answer.stderr)

    def test_too_large_to_be_read_whole(self):
        with WebServer({}) as web:
            web.fault = lambda handler: (200, {"Content-Length": str(1 << 40)})
            answer = run("report", web.url("a.xplane.pb"))
            self.assertEqual(answer.returncode, 3)
            self.assertIn("no ranges of it", answer.stderr)
            self.assertIn("download it", answer.stderr)

    def test_sizes_that_are_not_told(self):
        for told in ("bytes 0-0/*", "bytes 0-0/-1", "0-0/5", "bytes 0-0/99999999999999999999", ""):
            with WebServer({}) as web:
                web.fault = lambda handler, told=told: (206, {"Content-Range": told}, b"x")
                answer = run("report", web.url("a.xplane.pb"))
                self.assertEqual(answer.returncode, 3)
                self.assertNotEqual("", answer.stderr)


class Redirects(unittest.TestCase):
    def test_to_another_host(self):
        with WebServer({"b.hlo.pb.gz": PLAIN}) as there, WebServer({}) as here:
            here.fault = lambda handler: (302, {"Location": there.url("b.hlo.pb.gz")})
            answer = run("report", here.url("a.hlo.pb.gz"))
            self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_nowhere_else_and_not_for_ever(self):
        for where, said in (("file:///etc/passwd", "redirects to no address"),
                            ("ftp://host/x", "redirects to no address"), ("/again", "redirects without end")):
            with WebServer({}) as web:
                web.fault = lambda handler, where=where: (302, {"Location": where})
                answer = run("report", web.url("a.xplane.pb"))
                self.assertEqual(answer.returncode, 3)
                self.assertIn(said, answer.stderr)
                self.assertLess(len(web.requests), 10)


class Secrets(unittest.TestCase):
    SECRET = "X-Amz-Signature=0123456789abcdef%2F&X-Amz-Credential=AKIA/20260101/x"

    def test_the_query_is_sent_and_never_told(self):
        with WebServer({"x.xplane.pb.gz": MATMUL}) as web:
            plain = web.url("x.xplane.pb.gz")
            address = f"{plain}?{self.SECRET}#part"
            for arguments in (("report", address, "--format=json"), ("report", address), ("advise", address),
                              ("report", address, "--format=html"), ("diff", address, address)):
                answer = run(*arguments)
                self.assertEqual(answer.returncode, 0, answer.stderr)
                self.assertNotIn("0123456789abcdef", answer.stdout + answer.stderr, arguments)
            for path, _ in web.requests:
                self.assertIn(self.SECRET, path)
            with Server(logdir=address) as server:
                for path in ("/api/v1/sessions", "/api/v1/server", "/"):
                    self.assertNotIn("0123456789abcdef", server.get(path).body.decode())
                web.fault = lambda handler: (403, {})
                self.assertNotIn("0123456789abcdef", server.get("/api/v1/sessions").body.decode() + server.errors())
                self.assertNotIn("0123456789abcdef", "".join(server.printed))

    def test_not_in_an_error_either(self):
        with WebServer({}) as web:
            for address in (f"{web.url('x.xplane.pb')}?{self.SECRET}", f"{web.url('dir')}/?{self.SECRET}",
                            f"{web.origin}?{self.SECRET}"):
                for arguments in (("report", address), ("diff", address, address), ("advise", address),
                                  ("report", address, "--format=html"), ("explain", os.devnull, f"--logdir={address}")):
                    answer = run(*arguments)
                    self.assertNotEqual(answer.returncode, 0, arguments)
                    self.assertNotIn("0123456789abcdef", answer.stdout + answer.stderr, arguments)
            for address in (f"{web.url('dir')}/?{self.SECRET}", f"{web.origin}?{self.SECRET}"):
                self.assertNotIn("0123456789abcdef", run(f"--logdir={address}").stderr)


if __name__ == "__main__":
    unittest.main()
