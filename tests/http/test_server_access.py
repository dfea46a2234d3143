"""Who may read: the Host header, and the token of a server that others can reach."""
import re
import unittest
import urllib.parse

import test_save
from server_fixture import Server, until_complete


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


class OtherSites(unittest.TestCase):
    """A page of another site may not have the server work for it; it can send a POST, though not read the answer."""

    def post(self, server, **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = server.request("POST", "/api/v1/explain", body=b"nothing", headers=headers)
        if answer.status == 403:
            self.assertEqual(answer.json()["error"]["code"], "other_site")
            self.assertIn("--allow_host", answer.json()["error"]["message"])
        return answer.status

    def test_post_of_another_site_is_refused(self):
        with Server() as server:
            ours = f"localhost:{server.port}"
            for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:3000"},
                            {"Origin": f"http://{ours}.evil.example"}, {"Sec_Fetch_Site": "cross-site"},
                            {"Sec_Fetch_Site": "same-site", "Origin": f"http://{ours}"}, {"Origin": "http://"},
                            {"Origin": f"chrome-extension://{ours}"}):
                self.assertEqual(self.post(server, Host=ours, **headers), 403, headers)
            for headers in ({}, {"Origin": f"http://{ours}"}, {"Sec_Fetch_Site": "same-origin"},
                            {"Sec_Fetch_Site": "same-origin", "Origin": "https://tunnel.example"},
                            {"Sec_Fetch_Site": "none"}):
                self.assertEqual(self.post(server, Host=ours, **headers), 404, headers)
            read = server.get("/api/v1/server", headers={"Origin": "https://evil.example"})
            self.assertEqual(read.status, 200)

    def test_behind_a_proxy(self):
        page = "https://hub.example"
        with Server("--behind_proxy") as server:
            self.assertEqual(self.post(server, Origin=page, X_Forwarded_Host="hub.example:443"), 404)
            self.assertEqual(self.post(server, Origin=page, X_Forwarded_Host="other.example"), 403)
            self.assertEqual(self.post(server, Origin=page), 403)
        with Server("--allow_host=*.tunnel.example") as server:
            self.assertEqual(self.post(server, Origin="https://a.tunnel.example:8443"), 404)
            self.assertEqual(self.post(server, Origin="https://tunnel.example.evil.example"), 403)

    def test_the_token_is_asked_for_first(self):
        with Server("--bind_all") as server:
            answer = server.request("POST", "/api/v1/explain", body=b"x", headers={"Origin": "https://evil.example"})
            self.assertEqual((answer.status, answer.json()["error"]["code"]), (403, "unauthorized"))


REFUSED = (403, 429)  # the second after some wrong tokens: test_guesses


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
                self.assertIn(self.server.get(target).status, REFUSED, target)
        self.assertEqual(self.server.get("/api/v1/sessions").json()["error"]["code"], "unauthorized")
        self.assertIn(b"token", self.server.get("/").body)

    def test_no_refusal_repeats_it(self):
        for path in ("/api/v1/nothing", "/api/v1/modules?session=gone", "/api/v1/work", "/api/v1/session",
                     "/nothing.js", "/data/plugin/profile/hosts?run=gone", "/data?run=gone&tag=gone", "/metrics"):
            for name in ("token", "%74oken"):
                answer = self.server.get(f"{path}{'&' if '?' in path else '?'}{name}={self.token}")
                self.assertNotEqual(answer.status, 403, path)
                self.assertNotIn(self.token.encode(), answer.body, path)

    def odd_places(self):
        """Addresses that have the token where it is not read."""
        encoded = "".join(f"%{ord(c):02x}" for c in self.token)
        for value in (self.token, encoded, encoded.replace("%", "%25")):
            for before in ("?a=1;token=", "%3Ftoken=", "?token%00=", "?x=%26token=", "?to+ken=", "?%2574oken=",
                           "?session=", ""):
                yield before + value

    def test_no_refusal_repeats_it_wherever_it_stands(self):
        bearer = {"Authorization": "Bearer " + self.token}
        for path in ("/api/v1/session", "/api/v1/modules", "/api/v1/", "/data/plugin/profile/hosts", "/nothing/"):
            for place in self.odd_places():
                answer = self.server.get(path + place, headers=bearer)
                self.assertNotIn(self.token.encode(), answer.body, path + place)
        answer = self.server.get("/api/v1/session?session=" + self.token, headers=bearer)
        self.assertIn("\"...\"", answer.json()["error"]["message"])

    def test_a_refusal_does_not_tell_whether_a_guess_is_right(self):
        """Whoever is refused has not shown it, and would see by what is left out that it had it."""
        answer = self.server.get("/api/v1/sessions", headers={"Host": self.token})
        self.assertEqual(answer.status, 403)
        self.assertIn(self.token, answer.json()["error"]["message"])

    def ask_with_token(self, method, path, query, body=None):
        """The token by all three ways at once; what came, without the cookie that is the third."""
        headers = {"Authorization": "Bearer " + self.token, "Cookie": f"hbmview_{self.server.port}={self.token}"}
        target = f"{path}?{urllib.parse.urlencode({**query, 'token': self.token})}"
        answer = self.server.request(method, target, headers, body)
        told = [value for name, value in answer.headers.items() if name != "Set-Cookie"]
        return answer, answer.body + repr(told).encode()

    def test_of_the_api_only_the_servers_addresses_repeat_it(self):
        paths = self.server.get("/api/v1/openapi.json", {"token": self.token}).json()["paths"]
        self.assertGreater(len(paths), 20)
        del paths["/api/v1/events"]  # has no end
        views = ({}, {"session": "v5e_matmul"}, {"session": "gone", "module": "gone", "host": "gone"})
        for path, methods in paths.items():
            for method, query in ((method.upper(), query) for method in methods for query in views):
                body = b"RESOURCE_EXHAUSTED" if method == "POST" else None
                answer, told = self.ask_with_token(method, path, query, body)
                self.assertNotEqual(answer.status, 403, path)
                self.assertEqual(self.token.encode() in told, path == "/api/v1/server", (path, query))

    def test_no_saved_page_repeats_it(self):
        query = dict(urllib.parse.parse_qsl(test_save.PAGE))
        answer, told = self.ask_with_token("POST", "/api/v1/save", query)
        self.assertEqual(answer.status, 200, answer)
        index, replies = test_save.held(answer.body.decode())
        self.assertEqual(index["tools"], ["memory_viewer"])
        self.assertNotIn(self.token, told.decode() + repr(index) + repr(replies))

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
        self.assertIn(self.server.get("/", headers={"Cookie": value + "0"}).status, REFUSED)

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
        for _ in until_complete():  # the line is written when the answer was
            if "GET /api/v1/sessions 200" in self.server.errors():
                break
        self.assertNotIn(self.token, self.server.errors())

    def test_the_log_has_no_token_wherever_it_stands(self):
        for number, place in enumerate(self.odd_places()):
            self.server.get("/" + place)
            self.server.get(f"/api/v1/after/{number}")
            for _ in until_complete():
                if f"GET /api/v1/after/{number} 403" in (told := self.server.errors()):
                    break
            self.assertNotIn(self.token, urllib.parse.unquote(urllib.parse.unquote(told)), place)


class SharedWithoutToken(unittest.TestCase):
    def test_no_token(self):
        with Server("--bind_all", "--no_token") as server:
            self.assertNotIn("token=", server.printed[0])
            self.assertEqual(server.get("/api/v1/sessions").status, 200)
            self.assertEqual(server.get("/runs", headers={"Host": "evil.example"}).status, 403)


if __name__ == "__main__":
    unittest.main()
