"""The server that encrypts by itself: --tls_cert and --tls_key."""
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import test_work
from event_stream import EventStream
from own_certificate import make_certificate
from server_fixture import REPO, Server, program
from test_storage import serve

HEAD_SECONDS = 30  # LOBBY_HEAD_SECONDS
NO_TLS = """
int MHD_is_feature_supported(int feature) { (void)feature; return 0; }
"""


class WithCertificate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.own = make_certificate(cls.folder)


class Encrypted(WithCertificate):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(Server(tls=cls.own))

    def test_what_is_printed_and_told_is_https(self):
        self.assertRegex(self.server.printed[0], r"^hbmview is ready: https://localhost:\d+/$")
        about = self.server.get("/api/v1/server")
        self.assertEqual(about.json()["urls"], [self.server.url])
        self.assertEqual(about.headers["Cross-Origin-Opener-Policy"], "same-origin")
        self.assertIsNone(about.headers["Strict-Transport-Security"])

    def test_answers_are_those_of_a_server_that_does_not_encrypt(self):
        with Server() as plain:
            for path, query in (("/", None), ("/app.html", None), ("/data/plugin/profile/runs", None),
                                ("/api/v1/modules", {"session": "v5e_matmul"}),
                                ("/api/v1/modules", {"session": "none"}), ("/api/v1/openapi.json", None)):
                ours, theirs = (one.get(path, query) for one in (self.server, plain))
                self.assertEqual((ours.status, ours.body), (theirs.status, theirs.body), path)

    def test_a_large_body_and_many_requests_on_one_connection(self):
        connection = self.server.connection()
        for size in (1, 70_000, 15 << 20, 10):
            connection.request("POST", "/api/v1/explain", body=b"y" * size)
            answer = connection.getresponse()
            self.assertEqual((answer.status, b"not_found" in answer.read()), (404, True), size)
        connection.close()

    def test_pipelined_requests(self):
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
        with self.server.connect(60) as connection:
            connection.sendall((head + b"\r\n") * 20 + head + b"Connection: close\r\n\r\n")
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        self.assertEqual(answer.count(b"HTTP/1.1 200 OK"), 21)

    def test_too_many_arguments_are_told_so(self):
        for count in (65, 199, 200, 201, 202, 500, 1000, 2500):
            answer = self.server.get("/api/v1/server?" + "&".join(f"a{i}=" for i in range(count)))
            self.assertEqual((answer.status, answer.json()["error"]["code"]), (400, "bad_request"), count)
            self.assertIn("too many arguments", answer.json()["error"]["message"])

    def test_events_come_through(self):
        with EventStream(self.server) as events:
            self.assertEqual(events.next("hello").name, "hello")

    def test_old_versions_are_refused(self):
        context = ssl.create_default_context(cafile=self.own[0])
        context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        context.set_ciphers("ALL:@SECLEVEL=0")
        with socket.create_connection(("127.0.0.1", self.server.port)) as plain, self.assertRaises(OSError):
            context.wrap_socket(plain, server_hostname="127.0.0.1")
        self.assertEqual(self.server.connect().version(), "TLSv1.3")

    def test_what_is_not_encrypted_gets_nothing(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as plain:
            plain.sendall(b"GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            try:
                while piece := plain.recv(4096):
                    answer += piece
            except ConnectionResetError:
                pass
        self.assertNotIn(b"HTTP", answer)
        self.assertEqual(self.server.get("/api/v1/sessions").status, 200)

    def test_a_handshake_that_does_not_end_is_dropped(self):
        """Dripping does not help: no byte more is taken than the time allows."""
        begun = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=0.5) as slow:
            slow.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            while time.monotonic() - begun < 4 * HEAD_SECONDS:
                try:
                    slow.sendall(b"r")
                    if not slow.recv(1):
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            else:
                self.fail("it is still connected")
        self.assertGreater(time.monotonic() - begun, HEAD_SECONDS / 2)


class Shared(WithCertificate):
    def test_cookies_are_for_https_alone(self):
        for arguments, sites in (((), "SameSite=Strict; Secure"),
                                 (("--frame_ancestors=https://hub.example",), "SameSite=None; Secure; Partitioned")):
            with Server("--bind_all", *arguments, tls=self.own) as server:
                for line in server.printed:
                    self.assertNotIn("http://", line)
                token = server.url.split("token=")[1]
                answer = server.get("/", {"token": token})
                self.assertEqual(answer.status, 303)
                self.assertIn(f"; HttpOnly; {sites}; Path=/", answer.headers["Set-Cookie"])
                cookie = answer.headers["Set-Cookie"].split(";")[0]
                about = server.get("/api/v1/server", headers={"Cookie": cookie})
                self.assertIn(server.url, about.json()["urls"])


class HangUp(test_work.Work, WithCertificate):
    """Who leaves says so in an encrypted message that nobody reads: it is seen all the same."""

    @classmethod
    def setUpClass(cls):
        WithCertificate.setUpClass.__func__(cls)

    def serve(self):
        return serve(self.bucket, "s3", "run", "--threads=1", tls=self.own)


class Refused(WithCertificate):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = make_certificate(cls.folder, "other")

    def refused(self, certificate, key, *more, environment=None):
        command = [program(), "--port=0", f"--tls_cert={certificate}", f"--tls_key={key}", *more]
        done = subprocess.run(command, text=True, capture_output=True, timeout=60, cwd=REPO, env=environment)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done)
        return done.returncode, done.stderr

    def encrypted(self, name, *how):
        key = self.folder / name
        subprocess.run(["openssl", *how, "-in", self.own[1], "-passout", "pass:xyzw", "-out", key], check=True,
                       capture_output=True)
        return key

    def test_files_that_do_not_do(self):
        certificate, key = self.own
        empty, cut = self.folder / "empty.pem", self.folder / "cut.key"
        empty.write_bytes(b"")
        cut.write_text("".join(key.read_text().splitlines(True)[::3] + ["-----END PRIVATE KEY-----\n"]))
        cases = [((certificate, self.folder / "none"), "none: cannot open the file: No such file"),
                 ((self.folder / "none", key), "none: cannot open the file: No such file"),
                 ((self.folder, key), "a folder"), ((empty, key), "no certificate in it"),
                 ((certificate, empty), "no private key in it"), ((key, key), "no certificate in it"),
                 ((certificate, certificate), "no private key in it"), ((certificate, cut), "Give a certificate and"),
                 ((certificate, self.other[1]), "the given key do not match")]
        cases += [((certificate, self.encrypted("a.key", "pkey", "-aes256")), "openssl pkey -in FILE -out PLAIN"),
                  ((certificate, self.encrypted("b.key", "rsa", "-aes128", "-traditional")), "the key is encrypted")]
        for (its, key_path), words in cases:
            code, said = self.refused(its, key_path)
            self.assertEqual(code, 3, said)
            self.assertIn(words, said)
            self.assertRegex(said, r"^hbmview: --tls_(cert|key)=" + re.escape(str(self.folder)))

    def test_both_or_neither(self):
        for flag in ("--tls_cert", "--tls_key"):
            done = subprocess.run([program(), f"{flag}={self.own[0]}"], text=True, capture_output=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("is missing", done.stderr)
        code, said = self.refused(*self.own, f"--unix_socket={self.folder}/s")
        self.assertEqual(code, 2)
        self.assertIn("exclude each other", said)

    def test_a_library_that_does_not_encrypt(self):
        source, library = self.folder / "no_tls.c", self.folder / "no_tls.so"
        source.write_text(NO_TLS)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=True)
        environment = {**os.environ, "LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        code, said = self.refused(*self.own, environment=environment)
        self.assertEqual(code, 2)
        self.assertIn("docs/proxies.md", said)

    def test_both_are_read_once(self):
        """They may go while it serves: the sandbox has closed them."""
        with tempfile.TemporaryDirectory() as folder:
            own = make_certificate(pathlib.Path(folder))
            with Server(tls=own) as server:
                for path in own:
                    path.unlink()
                self.assertEqual(server.get("/api/v1/sessions").status, 200)


if __name__ == "__main__":
    unittest.main()
