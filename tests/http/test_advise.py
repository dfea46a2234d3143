"""GET /api/v1/advise: the document of `hbmview advise`, for a session's module."""
import unittest

from server_fixture import ServedCase

QUERY = "/api/v1/advise?session=v5e_gpt_4layer&module=jit_train_step(1)"


class AdviseOverHttp(ServedCase):
    def test_document(self):
        answer = self.server.get(QUERY)
        self.assertEqual(answer.status, 200, answer)
        document = answer.json()
        self.assertEqual((document["session"], document["module"]), ("v5e_gpt_4layer", "jit_train_step(1)"))
        self.assertEqual(len(document["interventions"]), 15)
        self.assertNotIn("plan", document)
        self.assertNotIn("alternatives", document)
        self.assertTrue(document["chains"])

    def test_a_capacity_is_read_as_explain_reads_it(self):
        for size in ("16G", "16GiB", "15.75%20GiB", "17179869184"):
            self.assertEqual(self.server.get(QUERY + f"&capacity={size}").status, 200, size)

    def test_capacity_ways_and_batch(self):
        document = self.server.get(QUERY + "&capacity=256MiB&ways=8&batch=4").json()
        self.assertEqual((document["capacity_bytes"], document["batch"]), (256 << 20, 4))
        self.assertTrue(document["plan"]["is_needed"])
        plans = [document["plan"], *document["alternatives"]]
        self.assertEqual([[step["id"] for step in plan["steps"]] for plan in plans],
                         [plan["interventions"] for plan in plans])
        ways = {item.get("ways") for item in document["interventions"]}
        self.assertEqual(ways, {None, 8})

    def test_wrong_words(self):
        for words in ("&capacity=much", "&ways=1", "&ways=x", "&batch=-4", "&batch=0", "&batch=x", "&sequence=1",
                      "&sequence=0"):
            self.assertEqual(self.server.get(QUERY + words).status, 400, words)
        for words in ("&batch=", "&sequence=", "&batch=1", "&sequence=2"):
            self.assertEqual(self.server.get(QUERY + words).status, 200, words)
        self.assertEqual(self.server.get("/api/v1/advise?session=v5e_gpt_4layer").status, 400)
        self.assertEqual(self.server.get("/api/v1/advise?session=none&module=x").status, 404)


if __name__ == "__main__":
    unittest.main()
