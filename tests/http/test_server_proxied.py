"""Behind a proxy: other names, prefixes, frames, cookies, a socket file, a token that was given."""
import http.client
import os
import pathlib
import re
import socket
import stat
import subprocess
import tempfile
import unittest

from server_fixture import READY_SECONDS, Server, program

TOKEN = "0123456789abcdef0123456789abcdef"
PROXIED = {"X-Forwarded-Prefix": "/tools/hbm", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "hub.example"}


class Names(unittest.TestCase):
    def test_a_refusal_tells_the_flag(self):
        with Server() as server:
            refused = server.get("/api/v1/sessions", headers={"Host": "abc-6006.tunnels.example:443"})
            self.assertEqual(refused.status, 403)
            message = refused.json()["error"]["message"]
            self.assertIn("--allow_host=abc-6006.tunnels.example,", message)
            self.assertIn("--behind_proxy", message)

    def test_allowed_names(self):
        with Server("--allow_host=abc-6006.tunnels.example", "--allow_host", "*.hub.example") as server:
            for host, status in (("abc-6006.tunnels.example", 200), ("x.hub.example:8443", 200), ("localhost", 200),
                                 ("hub.example", 403), ("evil.example", 403)):
                self.assertEqual(server.get("/runs", headers={"Host": host}).status, status, host)

    def test_forwarded_headers_count_only_when_asked_for(self):
        headers = {"Host": "hub.example", **PROXIED}
        with Server() as server:
            self.assertEqual(server.get("/runs", headers=headers).status, 403)
        with Server("--behind_proxy") as server:
            self.assertEqual(server.get("/runs", headers=headers).status, 200)
            self.assertEqual(server.get("/runs", headers={"Host": "hub.example"}).status, 403)
            rebound = {**headers, "Host": f"evil.example:{server.port}"}
            self.assertEqual(server.get("/runs", headers=rebound).status, 403)

    def test_a_page_shut_off_from_other_windows_where_browsers_heed_it(self):
        with Server("--behind_proxy", "--allow_host=plain.example") as server:
            for headers, policy in (({"Host": "localhost:8080"}, "same-origin"), ({"Host": "[::1]"}, "same-origin"),
                                    ({"Host": "hub.example", **PROXIED}, "same-origin"),
                                    ({"Host": "plain.example"}, None)):
                answer = server.get("/", headers=headers)
                self.assertEqual((answer.status, answer.headers["Cross-Origin-Opener-Policy"]), (200, policy), headers)


class Prefixes(unittest.TestCase):
    def test_a_prefix_that_the_proxy_leaves_in_the_path(self):
        with Server("--behind_proxy") as server:
            headers = {"Host": "hub.example", **PROXIED}
            self.assertEqual(server.get("/tools/hbm/runs", headers=headers).body, server.get("/runs").body)
            self.assertEqual(server.get("/tools/hbm/", headers=headers).body, server.get("/").body)

    def test_the_servers_address_is_the_proxys(self):
        with Server("--behind_proxy") as server:
            about = server.get("/api/v1/server", headers={"Host": "hub.example", **PROXIED}).json()
            self.assertEqual(about["urls"], ["https://hub.example/tools/hbm/"])
            self.assertEqual(server.get("/api/v1/server").json()["urls"], [server.url])

    def test_the_page_names_nothing_by_an_absolute_address(self):
        with Server() as server:
            page = server.get("/").body.decode()
            found = re.findall(r'(?:href|src)="([^"#]+)"', page)
            self.assertGreater(len(found), 4)
            for address in found:
                self.assertTrue(address.startswith("./"), address)
            names = {name for address in found for name in re.findall(r"^\./(assets/\S+)$", address)}
            seen = set()
            while names - seen:
                name = (names - seen).pop()
                seen.add(name)
                text = server.get("/" + name).body.decode()
                names |= {"assets/" + other for other in re.findall(r'"\./([a-z_]+-[0-9A-Z]{8}\.js)"', text)}
                for absolute in (r'import\(?"/', r'from"/', r"url\([\"']?/", r'fetch\(["`]/', r'["`]/vendor/',
                                 r'EventSource\(["`]/', r'(?:href|src)[=:]\s*["`]/(?!/)'):
                    self.assertIsNone(re.search(absolute, text), (name, absolute))
            self.assertGreater(len(seen), 6, seen)  # the tools too


class FramesAndCookies(unittest.TestCase):
    def test_who_may_frame_the_page(self):
        with Server() as server:
            self.assertIn("frame-ancestors 'none'", server.get("/").headers["Content-Security-Policy"])
        with Server("--frame_ancestors='self' https://hub.example") as server:
            for path, policy in ("/healthz", "cross-origin"), ("/runs", "same-origin"):  # is it there to be framed?
                self.assertEqual(server.get(path).headers["Cross-Origin-Resource-Policy"], policy)
            for path in ("/", "/runs", "/nothing.js"):
                policy = server.get(path).headers["Content-Security-Policy"]
                self.assertTrue(policy.endswith("frame-ancestors 'self' https://hub.example"), policy)

    def test_a_policy_cannot_be_widened(self):
        ended = subprocess.run([program(), "--port=0", "--frame_ancestors=*; script-src *"], capture_output=True,
                               text=True, timeout=READY_SECONDS)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("--frame_ancestors", ended.stderr)

    def test_the_cookie_goes_to_the_prefix(self):
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(TOKEN + "\n")
            file.flush()
            framed = "--frame_ancestors=https://hub.example"
            with Server(f"--token_file={file.name}", "--behind_proxy", framed) as server:
                self.assertTrue(server.url.endswith("?token=" + TOKEN))
                self.assertEqual(server.get("/runs").status, 403)
                welcome = server.get("/?token=" + TOKEN, headers={"Host": "hub.example", **PROXIED})
                cookie = welcome.headers["Set-Cookie"]
                for part in ("Path=/tools/hbm/", "Secure", "Partitioned", "SameSite=None", "HttpOnly"):
                    self.assertIn(part, cookie.split("; "))
                plain = server.get("/?token=" + TOKEN).headers["Set-Cookie"].split("; ")
                self.assertIn("Path=/", plain)
                self.assertIn("SameSite=Strict", plain)
                self.assertNotIn("Secure", plain)
                self.assertEqual(server.get("/runs", headers={"Cookie": plain[0]}).status, 200)


class GivenToken(unittest.TestCase):
    def test_by_the_environment(self):
        with Server(environment={**os.environ, "HBMVIEW_TOKEN": TOKEN}) as server:
            self.assertEqual(server.get("/runs").status, 403)
            self.assertEqual(server.get("/runs", headers={"Authorization": "Bearer " + TOKEN}).status, 200)
            self.assertEqual(server.get("/metrics").status, 403)
            health = server.get("/healthz", headers={"Host": "any.example"})
            self.assertEqual((health.status, health.headers["Cross-Origin-Resource-Policy"]), (200, "same-origin"))

    def test_one_that_is_none(self):
        for arguments, environment, said in ((["--token_file=/nothing/here"], {}, "/nothing/here"),
                                             ([], {"HBMVIEW_TOKEN": "short"}, "HBMVIEW_TOKEN"),
                                             ([], {"HBMVIEW_TOKEN": "a" * 129}, "HBMVIEW_TOKEN"),
                                             (["--no_token", "--token_file=x"], {}, "exclude")):
            ended = subprocess.run([program(), "--port=0", *arguments], capture_output=True, text=True,
                                   timeout=READY_SECONDS, env={**os.environ, **environment})
            self.assertEqual(ended.returncode, 2)
            self.assertIn(said, ended.stderr)


class SocketServer(Server):
    """The same on a socket file."""

    def __init__(self, path, *arguments):
        super().__init__(f"--unix_socket={path}", *arguments)
        self.path = str(path)

    def _read_stdout(self, ready):
        for line in self.process.stdout:
            self.printed.append(line.rstrip("\n"))
            self.url = line.split()[-1]
            ready.set()
        ready.set()

    def request(self, method, target, headers=None, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(self.path)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()


class SocketFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, "hbm.sock")

    def refusal(self):
        ended = subprocess.run([program(), f"--unix_socket={self.path}"], capture_output=True, text=True,
                               timeout=READY_SECONDS)
        self.assertEqual(ended.returncode, 2)
        return ended.stderr

    def test_it_serves_this_user_and_goes_at_the_end(self):
        with SocketServer(self.path) as server:
            self.assertEqual(server.printed[0], f"hbmview is ready: unix:{self.path}")
            self.assertEqual(stat.S_IMODE(self.path.stat().st_mode), 0o600)
            self.assertEqual(server.get("/runs", headers={"Host": "any.example"})[0], 200)
            self.assertIn("another program listens", self.refusal())
        self.assertFalse(self.path.exists())

    def test_a_socket_that_nobody_listens_on_makes_room(self):
        left = socket.socket(socket.AF_UNIX)
        left.bind(str(self.path))
        left.close()
        with SocketServer(self.path) as server:
            self.assertEqual(server.get("/runs")[0], 200)

    def test_a_file_stays(self):
        self.path.write_text("mine")
        self.assertIn("not replaced", self.refusal())
        self.assertEqual(self.path.read_text(), "mine")

    def test_another_ones_socket_stays_at_the_end(self):
        with SocketServer(self.path):
            self.path.unlink()
            other = socket.socket(socket.AF_UNIX)
            other.bind(str(self.path))
        self.assertTrue(self.path.exists())
        other.close()


if __name__ == "__main__":
    unittest.main()
