"""POST /api/v1/explain: a log in the body, the explanation back; methods, sizes, tokens."""
import contextlib
import http.client
import unittest

from server_fixture import FIXTURES, ServedCase, Server

MESSAGES = FIXTURES / "oom_messages"
GIB = 1 << 30


class ExplainOverHttp(ServedCase):
    def post(self, body, query=""):
        return self.server.request("POST", f"/api/v1/explain{query}", body=body)

    def test_joined_with_the_servers_sessions(self):
        answer = self.post((MESSAGES / "v5e_readme_oom.txt").read_bytes())
        self.assertEqual(answer.status, 200, answer)
        [message] = answer.json()["messages"]
        self.assertEqual((message["scenario"], message["joined"]["session"]), ("2", "v5e_readme_oom"))
        self.assertEqual(message["largest"][0]["size_bytes"], 200 * GIB)
        page = self.server.get("/" + message["joined"]["link"])
        self.assertEqual(page.status, 200)

    def test_the_program_of_the_size_whatever_session_is_open(self):
        body = (MESSAGES / "v5e_gpt_12layer_oom.txt").read_bytes()
        for query in ("", "?prefer=v5e_gpt_4layer", "?prefer=v5e_gpt_12layer_oom", "?prefer=gone"):
            [message] = self.post(body, query).json()["messages"]
            self.assertEqual(message["joined"]["session"], "v5e_gpt_12layer_oom", query)
            self.assertTrue(message["joined"]["is_same_size"])

    def test_a_message_that_names_no_program_is_about_the_one_of_its_size(self):
        for size, session in (("52.93G", "v5e_gpt_12layer_oom"), ("52.80G", None)):
            text = ("RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries "
                    f"({size}) exceeds available HBM (15.75G).")
            [message] = self.post(text.encode()).json()["messages"]
            self.assertEqual(message["joined"] and message["joined"]["session"], session)

    def test_rows_are_called_as_the_message_calls_them(self):
        body = (MESSAGES / "v5e_gpt_12layer_oom.txt").read_bytes()
        for odd, told in ((b"HLO\xfftemps", "HLO\ufffdtemps"), (b'HLO "temps"', 'HLO "temps"')):
            [message] = self.post(body.replace(b"HLO temporaries", odd)).json()["messages"]
            self.assertIn(told, message["breakdown"])

    def test_a_session_that_is_not_there(self):
        answer = self.post((MESSAGES / "v5e_readme_oom.txt").read_bytes(), "?session=gone")
        self.assertEqual((answer.status, answer.json()["error"]["code"]), (404, "not_found"))

    def test_session_and_capacity(self):
        body = (MESSAGES / "v5e_gpt_12layer_oom.txt").read_bytes()
        [message] = self.post(body, "?session=v5e_gpt_4layer").json()["messages"]
        self.assertTrue(message["joined"] is None or message["joined"]["disagreements"])
        [message] = self.post(body, "?capacity=6G").json()["messages"]
        self.assertEqual(message["scenario"], "2")
        self.assertEqual(self.post(body, "?capacity=much").status, 400)

    def test_ten_megabytes_and_too_much(self):
        noise = b"an ordinary line of an ordinary log, step 12\n" * 240000
        self.assertGreater(len(noise), 10 << 20)
        answer = self.post(noise + (MESSAGES / "tpu_hbm_used.txt").read_bytes())
        self.assertEqual(answer.status, 200, answer)
        self.assertEqual(answer.json()["messages"][0]["line"], 240001)
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", "/api/v1/explain", body=b"x" * (20 << 20))
            self.assertEqual(connection.getresponse().status, 413)

    def loads(self):
        return self.server.get("/api/v1/server").json()["cache"]["loads"]

    def test_a_hundred_messages_about_one_program(self):
        query, module = "?session=v5e_readme_oom", "jit_oom(1)"
        message = (MESSAGES / "v5e_readme_oom.txt").read_text()
        self.assertEqual(self.server.get(f"/api/v1/memory_view{query}&module={module}").status, 200)
        before = self.loads()
        one = self.post(message, query)
        self.assertEqual((one.status, self.loads() - before), (200, 2), "its total and its advice, kept")
        log = "".join(message.replace("300.00G", f"{290 + i / 10:.2f}G") + "noise\n" * 9 for i in range(100))
        answer = self.post(log, query)
        self.assertEqual((answer.status, self.loads() - before), (200, 2))
        told = answer.json()["messages"]
        self.assertGreater(len(told), 60)
        self.assertEqual({item["joined"]["module"] for item in told}, {module})
        self.assertEqual({str(item["plan"]) for item in told}, {str(one.json()["messages"][0]["plan"])})

    def test_no_message(self):
        for body in (b"", b"all is well", bytes(range(256)) * 100):
            answer = self.post(body)
            self.assertEqual(answer.status, 404, answer)
            self.assertEqual(answer.json()["error"]["message"], "no out-of-memory message found")

    def test_methods(self):
        answer = self.server.get("/api/v1/explain")
        self.assertEqual((answer.status, answer.headers["Allow"]), (405, "POST"))
        for target in ("/api/v1/sessions", "/data/plugin/profile/runs", "/"):
            answer = self.server.request("POST", target, body=b"x")
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"))


class ExplainNeedsTheToken(unittest.TestCase):
    def test_large_bodies_only_with_the_token(self):
        with Server("--bind_all") as server:
            body = (MESSAGES / "tpu_hbm_used.txt").read_bytes()
            self.assertEqual(server.request("POST", "/api/v1/explain", body=body).status, 403)


if __name__ == "__main__":
    unittest.main()
