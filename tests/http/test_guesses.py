"""Wrong tokens: after some of one address they are answered 429, and the right one always gets in."""
import unittest

from server_fixture import Server

FREE = 10  # GUESSES_FREE


class Guesses(unittest.TestCase):
    def setUp(self):
        self.server = Server("--bind_all", "--behind_proxy", "--verbose").__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.token = self.server.url.split("token=")[1]

    def guess(self, token, way="link", path="/api/v1/sessions", **headers):
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if way == "bearer":
            headers["Authorization"] = "Bearer " + token
        if way == "cookie":
            headers["Cookie"] = f"hbmview_{self.server.port}={token}"
        return self.server.get(path, {"token": token} if way == "link" else None, headers)

    def guess_too_often(self, **headers):
        for i in range(FREE):
            self.assertEqual(self.guess(f"wrong-{i}", ("link", "bearer", "cookie")[i % 3], **headers).status, 403)

    def test_a_proxys_own_line_counts_and_not_its_clients(self):
        """HAProxy adds one after those that it was sent."""
        for i in range(FREE + 1):
            connection = self.server.connection()
            self.addCleanup(connection.close)
            connection.putrequest("GET", "/api/v1/sessions?token=wrong")
            connection.putheader("X-Forwarded-For", f"10.0.0.{i}")
            connection.putheader("X-Forwarded-For", "10.1.1.1")
            connection.endheaders()
            self.assertEqual(connection.getresponse().status, 403 if i < FREE else 429, i)

    def test_more_of_them_are_told_to_wait(self):
        self.guess_too_often()
        for way in ("link", "bearer", "cookie"):
            answer = self.guess("wrong", way)
            self.assertEqual((answer.status, answer.json()["error"]["code"]), (429, "too_many_guesses"))
            self.assertIn(int(answer.headers["Retry-After"]), range(1, 31))
            self.assertEqual(answer.headers["Connection"], "close")
        self.assertEqual(self.guess("wrong", path="/").status, 429)
        self.assertEqual(self.guess("wrong", path="/runs").status, 429)
        self.assertNotIn("wrong", self.server.errors())

    def post(self, token, size, query=""):
        return self.server.request("POST", f"/api/v1/explain?token={token}{query}", body=bytes(size)).status

    def test_a_body_hides_no_guess(self):
        """How much of it is kept hangs on the token; what is answered must not tell it without counting."""
        for i in range(FREE):
            self.assertEqual(self.post(f"wrong-{i}", 70_000), 403)
        self.assertEqual(self.post("wrong", 70_000), 429)
        self.assertEqual(self.post(self.token, 70_000), 404)  # there is no message in it
        self.assertEqual(self.post(self.token, 20 << 20), 413)

    def announce(self, token, size):
        """The status of whoever says how large a body is, and sends none of it."""
        connection = self.server.connection()
        self.addCleanup(connection.close)
        connection.putrequest("POST", f"/api/v1/explain?token={token}")
        connection.putheader("Content-Length", str(size))
        connection.endheaders()
        return connection.getresponse().status

    def test_a_body_that_is_not_read_hides_no_guess(self):
        for i in range(FREE):
            self.assertEqual(self.announce(f"wrong-{i}", 66 << 20), 403)
        self.assertEqual(self.announce("wrong", 66 << 20), 429)
        self.assertEqual(self.announce(self.token, 66 << 20), 413)

    def test_nothing_is_told_of_a_token_without_looking_at_it(self):
        for token in ("wrong", self.token):
            self.assertEqual(self.post(token, 70_000, "&session=%00"), 400, token)

    def test_the_right_one_gets_in_all_the_same(self):
        self.guess_too_often()
        for _ in range(3):
            self.assertEqual(self.guess("wrong").status, 429)
            for way in ("link", "bearer", "cookie"):
                self.assertEqual(self.guess(self.token, way).status, 200, way)

    def test_none_at_all_is_no_guess(self):
        for _ in range(3 * FREE):
            self.assertEqual(self.server.get("/api/v1/sessions").status, 403)
        self.assertEqual(self.guess("wrong").status, 403)

    def test_each_address_has_its_own(self):
        """As the proxy saw it: what its client wrote before that does not count."""
        self.guess_too_often(X_Forwarded_For="192.0.2.7")
        self.assertEqual(self.guess("wrong", X_Forwarded_For="192.0.2.8, 192.0.2.7").status, 429)
        self.assertEqual(self.guess("wrong", X_Forwarded_For="192.0.2.7, 192.0.2.8").status, 403)
        self.guess_too_often(X_Forwarded_For="2001:db8::1")
        self.assertEqual(self.guess("wrong", X_Forwarded_For="[2001:db8::2]:443").status, 429)
        self.assertEqual(self.guess("wrong", X_Forwarded_For="2001:db8:0:1::1").status, 403)


if __name__ == "__main__":
    unittest.main()
