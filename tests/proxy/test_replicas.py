"""Three servers of one log directory behind nginx: each answers each question with the same bytes and the same tag."""
import contextlib
import os
import unittest

from nginx import Balancer, Replica

from every_question import Question, every_question
from same_answers import ask

# What a replica tells of itself: its links and its cache.
OF_ONE_REPLICA = ("/api/v1/server",)


class Replicas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stack = contextlib.ExitStack()
        environment = {**os.environ, "HBMVIEW_TOKEN": Replica.TOKEN}
        cls.replicas = [cls.stack.enter_context(Replica(environment=environment)) for _ in range(3)]
        cls.balancer = cls.stack.enter_context(Balancer(cls.replicas))

    @classmethod
    def tearDownClass(cls):
        cls.stack.close()

    def told(self, server, question):
        answer = ask(server, question)
        return answer.status, answer.headers["ETag"], answer.headers["Content-Type"], answer.body

    def test_each_answers_the_same(self):
        count, answered_by = 0, set()
        page = [Question(path, {}) for path in ("/", "/favicon.ico", "/data/plugin/profile/version", "/memory_viewer")]
        for question in (*page, *every_question(self.balancer)):
            with self.subTest(question):
                count += 1
                told = [self.told(server, question) for server in (*self.replicas, self.balancer)]
                for other in told[1:]:
                    self.assertEqual(other, told[0])
        for _ in range(3):
            answered_by.add(self.balancer.get("/runs").headers["X-Answered-By"])
        self.assertEqual(len(answered_by), 3)
        self.assertGreater(count, 200)

    def test_what_one_gave_another_knows_unchanged(self):
        tag = self.replicas[0].get("/api/v1/sessions").headers["ETag"]
        for server in (*self.replicas, self.balancer):
            self.assertEqual(server.get("/api/v1/sessions", headers={"If-None-Match": tag}).status, 304)

    def test_the_cookie_of_one_opens_all(self):
        welcome = self.replicas[0].get("/?token=" + Replica.TOKEN)
        cookie = welcome.headers["Set-Cookie"].split(";")[0]
        for replica in self.replicas:
            headers = {"Cookie": cookie, "Authorization": ""}
            self.assertEqual(replica.get("/runs", headers=headers).status, 200)
            self.assertEqual(replica.get("/runs", headers={"Authorization": ""}).status, 403)


if __name__ == "__main__":
    unittest.main()
