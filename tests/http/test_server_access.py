"""Who may read: the Host header, and the token of a server that others can reach."""
import re
import unittest
import urllib.parse

from server_fixture import Server


class Loopback(unittest.TestCase):
    def test_hosts(self):
        with Server() as server:
            self.assertRegex(server.printed[0], r"^hbmview is ready: http://localhost:\d+/$")
            for host in ("localhost", "127.0.0.1:1", "[::1]:6006", "LOCALHOST:77"):
                self.assertEqual(server.get("/runs", headers={"Host": host}).status, 200, host)
            for host in ("evil.example", "localhost.evil.example", "8.8.8.8", "127.0.0.1.nip.io:6006", "a b", ""):
                for path in ("/runs", "/api/v1/sessions", "/"):
                    answer = server.get(path, headers={"Host": host})
                    self.assertIn(answer.status, (400, 403), (host, path))
            refusal = server.get("/api/v1/sessions", headers={"Host": "evil.example"})
            self.assertEqual(refusal.status, 403)
            self.assertIn("rebinding", refusal.json()["error"]["message"])

    def test_server_says_it_is_not_shared(self):
        with Server() as server:
            about = server.get("/api/v1/server").json()
            self.assertFalse(about["shared"])
            self.assertEqual(about["urls"], [server.url])


class Shared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--bind_all", "--verbose").__enter__()
        cls.token = urllib.parse.parse_qs(urllib.parse.urlsplit(cls.server.url).query)["token"][0]

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def test_every_link_has_the_token(self):
        self.assertGreaterEqual(len(self.token), 22)
        for line in self.server.printed:
            for link in re.findall(r"http://\S+", line):
                self.assertIn("?token=" + self.token, link)

    def test_nothing_without_it(self):
        for path in ("/api/v1/sessions", "/api/v1/server", "/runs", "/data/plugin/profile/hosts?run=x", "/",
                     "/js/main.js", "/api/v1/nothing", "/favicon.ico"):
            for query in ({}, {"token": ""}, {"token": "x" * len(self.token)}, {"token": self.token[:-1]}):
                target = path + ("&" if "?" in path else "?") + urllib.parse.urlencode(query)
                self.assertEqual(self.server.get(target).status, 403, target)
        self.assertEqual(self.server.get("/api/v1/sessions").json()["error"]["code"], "unauthorized")
        self.assertIn(b"token", self.server.get("/").body)

    def test_the_link_moves_into_a_cookie(self):
        answer = self.server.get(f"/memory_viewer?run=a&token={self.token}&host=b")
        self.assertEqual(answer.status, 303)
        self.assertEqual(answer.headers["Location"], "./memory_viewer?run=a&host=b")
        cookie = answer.headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertIn("Path=/", cookie)
        value = cookie.split(";")[0]
        self.assertIn(str(self.server.port), value.split("=")[0])
        self.assertEqual(self.server.get("/", headers={"Cookie": value}).status, 200)
        self.assertEqual(self.server.get("/api/v1/sessions", headers={"Cookie": "x=y; " + value}).status, 200)
        self.assertEqual(self.server.get("/", headers={"Cookie": value + "0"}).status, 403)

    def test_an_encoded_name_leaves_the_address_too(self):
        for name in ("%74oken", "tok%65n", "%74%6f%6B%65%6e"):
            answer = self.server.get(f"/memory_viewer?run=a&{name}={self.token}")
            self.assertEqual((answer.status, answer.headers["Location"]), (303, "./memory_viewer?run=a"), name)

    def test_redirects_stay_here(self):
        answer = self.server.request("GET", f"//evil.example/?token={self.token}")
        self.assertEqual(answer.status, 303)
        self.assertEqual(answer.headers["Location"], "./")

    def test_redirects_keep_the_prefix_of_a_proxy(self):
        for path, place in (("/", "/proxy/6006/"), ("/?run=a", "/proxy/6006/?run=a"),
                            ("/memory_viewer?run=a:b", "/proxy/6006/memory_viewer?run=a:b"),
                            ("/a/b?run=a", "/proxy/6006/a/b?run=a")):
            answer = self.server.get(path + ("&" if "?" in path else "?") + "token=" + self.token)
            seen = "http://proxy.example/proxy/6006" + path  # what the browser asked the proxy for
            self.assertEqual(urllib.parse.urljoin(seen, answer.headers["Location"]), "http://proxy.example" + place)

    def test_a_link_from_another_site_is_asked_again_once(self):
        refused = self.server.get("/x?run=a")
        self.assertEqual(refused.headers["Refresh"], "0; url=./x?run=a&hbmview_retry=1")
        self.assertIsNone(self.server.get("/x?run=a&hbmview_retry=1").headers["Refresh"])
        cookie = self.server.get(f"/?token={self.token}").headers["Set-Cookie"].split(";")[0]
        retried = self.server.get("/x?run=a&hbmview_retry=1", headers={"Cookie": cookie})
        self.assertEqual((retried.status, retried.headers["Location"]), (303, "./x?run=a"))

    def test_scripts(self):
        self.assertEqual(self.server.get("/api/v1/sessions", {"token": self.token}).status, 200)
        self.assertEqual(self.server.get("/runs", {"token": self.token}).status, 200)
        bearer = {"Authorization": "Bearer " + self.token}
        self.assertEqual(self.server.get("/api/v1/sessions", headers=bearer).status, 200)
        about = self.server.get("/api/v1/server", headers=bearer).json()
        self.assertTrue(about["shared"])
        self.assertIn(self.server.url, about["urls"])

    def test_hosts(self):
        bearer = {"Authorization": "Bearer " + self.token}
        for host, status in (("203.0.113.5:80", 200), ("[2001:db8::5]", 200), ("evil.example", 403)):
            self.assertEqual(self.server.get("/runs", headers={"Host": host, **bearer}).status, status, host)

    def test_the_log_has_no_token(self):
        self.server.get("/api/v1/sessions", {"token": self.token})
        self.assertIn("GET /api/v1/sessions 200", self.server.errors())
        self.assertNotIn(self.token, self.server.errors())


class SharedWithoutToken(unittest.TestCase):
    def test_no_token(self):
        with Server("--bind_all", "--no_token") as server:
            self.assertNotIn("token=", server.printed[0])
            self.assertEqual(server.get("/api/v1/sessions").status, 200)
            self.assertEqual(server.get("/runs", headers={"Host": "evil.example"}).status, 403)


if __name__ == "__main__":
    unittest.main()
