"""POST /api/v1/check/progress and GET /api/v1/check: what a check of the advice tells while it runs elsewhere."""
import json
import unittest
import urllib.parse

from server_fixture import FixturesServed, Server

PLACE = {"session": "v5e_gpt_4layer", "module": "jit_train_step(1)"}
LIMIT = 64 << 10
ROW = {"id": "as_it_is", "name": "as it is", "predicted_total_bytes": 1000, "low_bytes": None, "high_bytes": None,
       "compiled_total_bytes": 1000, "is_inside": None, "status": "compiled", "reason": None, "seconds": 2.5}
TOLD = {"state": "running", "asked": "changes", "target": "v5e:2x2", "compiler": "jax 1", "total": 3, "compiled": 1,
        "compiling": "donate the inputs", "reason": None, "rows": [ROW]}


def post(server, body, place=None, headers=None):
    target = "/api/v1/check/progress?" + urllib.parse.urlencode(PLACE if place is None else place)
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.request("POST", target, headers, sent)


def read(server, place=None):
    answer = server.get("/api/v1/check", PLACE if place is None else place)
    assert answer.status == 200, answer
    return answer.json()


class Check(FixturesServed):
    def refused(self, body, status=400, code="bad_request", **how):
        answer = post(self.server, body, **how)
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (status, code), answer)
        return answer.json()["error"]["message"]

    def test_nothing_was_told_yet(self):
        place = {"session": "v5e_padded", "module": self.server.whole_list("v5e_padded")["modules"][0]["name"]}
        self.assertEqual(read(self.server, place), {**place, "check": None})

    def test_the_newest_is_answered_with_its_age(self):
        answer = post(self.server, TOLD)
        self.assertEqual((answer.status, answer.json()), (200, {**PLACE, "rows": 1}), answer)
        newer = {**TOLD, "state": "done", "compiling": None, "rows": [ROW, {**ROW, "id": "b", "is_inside": False}]}
        self.assertEqual(post(self.server, newer).json()["rows"], 2)
        check = read(self.server)["check"]
        self.assertIn(check.pop("age_ms"), range(60_000))
        self.assertEqual(check, newer)

    def test_a_refused_body_changes_nothing(self):
        post(self.server, TOLD)
        for body, told in ((b"", "JSON"), (b"\xff\xfe", "JSON"), (b"[" * 60000, "JSON"), ([TOLD], "JSON object"),
                           ({**TOLD, "state": "hacked"}, '"state"'), ({**TOLD, "total": 10 ** 6}, '"total"'),
                           ({**TOLD, "more": 1}, "not known"), ({**TOLD, "rows": [ROW] * 101}, '"rows"'),
                           ({**TOLD, "rows": [{**ROW, "name": {"a": 1}}]}, '"name" of a row'),
                           ({**TOLD, "reason": "x" * 2001}, '"reason"'),
                           ({**TOLD, "rows": [{**ROW, "seconds": 1.7976931348623157e308}]}, '"seconds" of a row'),
                           (json.dumps({**TOLD, "reason": "a\0b"}).encode(), "JSON"),
                           (b'{"state":' * 5000, "JSON")):
            self.assertIn(told, self.refused(body))
        self.assertEqual(read(self.server)["check"]["rows"], [ROW])

    def test_too_large_a_body(self):
        rows = [{**ROW, "reason": "x" * 1900} for _ in range(40)]
        self.refused({**TOLD, "rows": rows}, 413, "too_big")
        self.assertEqual(post(self.server, {**TOLD, "rows": rows[:30]}).status, 200)

    def test_markup_is_text(self):
        evil = "</script><img src=x onerror=alert(1)>"
        self.assertEqual(post(self.server, {**TOLD, "compiling": evil, "rows": [{**ROW, "name": evil}]}).status, 200)
        answer = self.server.get("/api/v1/check", PLACE)
        self.assertEqual(answer.json()["check"]["compiling"], evil)
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(answer.headers["X-Content-Type-Options"], "nosniff")

    def test_only_programs_that_there_are(self):
        for place, status in (({**PLACE, "session": "none"}, 404), ({**PLACE, "module": "none"}, 404),
                              ({"session": PLACE["session"]}, 400), ({}, 400)):
            self.assertEqual(post(self.server, TOLD, place).status, status, place)
            self.assertEqual(self.server.get("/api/v1/check", place).status, status, place)

    def test_other_sites_and_methods(self):
        post(self.server, TOLD)
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            self.refused({**TOLD, "state": "done"}, 403, "other_site", headers=headers)
        self.assertEqual(read(self.server)["check"]["state"], "running")
        self.assertEqual(self.server.get("/api/v1/check/progress", PLACE).status, 405)
        target = "/api/v1/check?" + urllib.parse.urlencode(PLACE)
        self.assertEqual(self.server.request("POST", target, body=b"{}").status, 405)


class Servers(unittest.TestCase):
    def test_each_keeps_what_it_was_told(self):
        with Server() as one, Server() as other:
            post(one, TOLD)
            self.assertEqual(read(one)["check"]["state"], "running")
            self.assertIsNone(read(other)["check"])

    def test_a_token_is_wanted_where_one_is(self):
        with Server("--bind_all") as server:
            self.assertEqual(post(server, TOLD).status, 403)
            token = urllib.parse.parse_qs(urllib.parse.urlsplit(server.url).query)["token"][0]
            there = {"Authorization": f"Bearer {token}"}
            self.assertEqual(post(server, TOLD, headers=there).status, 200)


if __name__ == "__main__":
    unittest.main()
