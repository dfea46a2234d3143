"""/api/v1/memory_view/groups: who holds the memory at a step, with the rows of the view that belong to each group."""
import unittest

from server_fixture import Server

OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
WAYS = ["source", "stack", "scope", "argument", "phase", "category", "dtype", "shape", "opcode"]


class MemoryGroups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def answer(self, **query):
        return self.server.get("/api/v1/memory_view/groups", {**OOM, **query})

    def ask(self, **query):
        answer = self.answer(**query)
        self.assertEqual(answer.status, 200, answer)
        return answer.json()

    def test_the_line_that_holds_most_and_its_buffers(self):
        groups = self.ask()
        rows = groups["rows"]
        self.assertEqual([groups[key] for key in ("session", "host", "module", "memory_space", "by", "rule", "step")],
                         ["v5e_gpt_12layer_oom", "tpu-vm-0", "jit_train_step(1)", 0, "source", "lines", 347])
        self.assertEqual([rows[key][0] for key in ("key", "size_bytes", "buffers")], ["train.py:53", 35529949184, 34])
        view = self.server.get("/api/v1/memory_view", OOM).json()
        first = rows["first_member"][0]
        members = groups["members"][first:first + 34]
        self.assertEqual(sum(view["buffers"]["size_bytes"][row] for row in members), 35529949184)
        self.assertEqual(sorted(groups["members"]), sorted(view["at_peak"]))

    def test_every_way_sums_to_the_curve_of_the_view(self):
        curve = self.server.get("/api/v1/memory_view", OOM).json()["program"]["heap_bytes"]
        for way in WAYS:
            for step in (0, 100, 347, 1025):
                groups = self.ask(by=way, step=step)
                self.assertEqual((groups["by"], groups["step"]), (way, step))
                self.assertEqual(groups["live_bytes"], curve[step + 1])
                self.assertEqual(sum(groups["rows"]["size_bytes"]), curve[step + 1])
                self.assertEqual(sum(groups["rows"]["buffers"]), len(groups["members"]))
                self.assertEqual(groups["rule"], "lines" if way == "source" else None)

    def test_frameworks_are_another_reply(self):
        usual, none = self.ask(by="source", session="h100_programs", module="jit_matmul(1)"), self.ask(frameworks="")
        self.assertEqual(usual["rule"], "names")
        self.assertEqual(none["rows"]["key"], self.ask()["rows"]["key"])

    def test_questions_that_make_no_sense(self):
        for status, query in ((400, {"by": "colour"}), (400, {"step": "x"}), (404, {"step": 1026}), (404, {"step": -2}),
                              (404, {"module": "nope"})):
            self.assertEqual(self.answer(**query).status, status, query)
        self.assertIn("the last is 1025", self.answer(step=5000).json()["error"]["message"])


if __name__ == "__main__":
    unittest.main()
