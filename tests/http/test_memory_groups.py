"""/api/v1/memory_view/groups: who holds the memory at a step, with the rows of the view that belong to each group."""
import unittest

from server_fixture import ServedCase, Server

OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}
WAYS = ["source", "stack", "scope", "argument", "phase", "category", "dtype", "shape", "opcode"]


class MemoryGroups(ServedCase):
    path, query = "/api/v1/memory_view/groups", OOM

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

    def test_what_a_group_is_about_and_where(self):
        rows = self.ask()["rows"]
        self.assertEqual((rows["key"][0], rows["about"][0]), ("train.py:53", "attention"))
        self.assertRegex(rows["place"][0], r"^/.*/train\.py:53$")
        of_arguments = [row for row, key in enumerate(rows["key"]) if key == "params.layers"]
        self.assertEqual([(rows["about"][row], rows["place"][row]) for row in of_arguments], [("", "")])
        scopes = self.ask(by="scope")["rows"]
        self.assertEqual((scopes["key"][0], scopes["about"][0]), ("attention", "train.py:53"))

    def test_how_a_phase_is_known(self):
        rows = self.ask(by="phase")["rows"]
        told = dict(zip(rows["key"], zip(rows["phase_rule"], rows["phase_evidence"])))
        self.assertEqual(told["saved for backward"][0], "read_backward")
        self.assertEqual(told["backward"][0], "op_name")
        self.assertEqual(told["inputs"], ("category", ""))
        names = self.server.get("/api/v1/memory_view", OOM).json()["strings"]
        self.assertIn(told["saved for backward"][1], names)
        self.assertNotIn("phase_rule", self.ask(by="shape")["rows"])

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

    def test_the_rows_of_all_keys_are_those_of_every_step(self):
        view = self.server.get("/api/v1/memory_view", OOM).json()
        for way in WAYS:
            answer = self.server.get("/api/v1/memory_view/groups/rows", {**OOM, "by": way})
            self.assertEqual(answer.status, 200, answer)
            told = answer.json()
            self.assertEqual((told["by"], told["module"]), (way, OOM["module"]))
            self.assertEqual(len(told["key_of_row"]), len(view["buffers"]["size_bytes"]))
            for step in (0, 347, 900):
                groups = self.ask(by=way, step=step)
                rows = groups["rows"]
                for key, first, buffers in zip(rows["key"], rows["first_member"], rows["buffers"]):
                    for row in groups["members"][first:first + buffers]:
                        self.assertEqual(told["strings"][told["key_of_row"][row]], key)

    def test_another_weight_is_another_order_of_the_same_rows(self):
        def told(weight):
            answer = self.ask(weight=weight)
            self.assertEqual(answer["weight"], weight)
            return answer["rows"]
        size, padding, lifetime = told("size"), told("padding"), told("size_x_lifetime")
        self.assertEqual(sorted(size["key"]), sorted(lifetime["key"]))
        for rows, column in ((size, "size_bytes"), (padding, "padding_bytes"), (lifetime, "size_x_lifetime")):
            self.assertEqual(rows[column], sorted(rows[column], reverse=True))
            for share, weight in zip(rows["share"], rows[column]):
                self.assertAlmostEqual(share, weight / sum(rows[column]))
        view = self.server.get("/api/v1/memory_view", OOM).json()
        buffers, steps = view["buffers"], view["program"]["steps"]
        lives = [steps if category != 4 else end - start for category, start, end in
                 zip(buffers["category"], buffers["start_step"], buffers["end_step"])]
        members = self.ask()["members"]
        self.assertEqual(sum(size["size_x_lifetime"]), sum(buffers["size_bytes"][row] * lives[row] for row in members))

    def test_another_step_reads_no_program_again(self):
        with Server() as server:
            loads = []
            for step in (0, 100, 200, 300):
                self.assertEqual(server.get("/api/v1/memory_view/groups", {**OOM, "step": step}).status, 200)
                loads.append(server.get("/api/v1/server").json()["cache"]["loads"])
        self.assertEqual([after - before for before, after in zip(loads, loads[1:])], [1, 1, 1], "the replies alone")

    def test_frameworks_are_another_reply(self):
        usual, none = self.ask(by="source", session="h100_programs", module="jit_matmul(1)"), self.ask(frameworks="")
        self.assertEqual(usual["rule"], "names")
        self.assertGreater(usual["line_share"], 0.8)
        self.assertLess(none["line_share"], 0.8)
        self.assertIsNone(self.ask(by="phase")["line_share"])
        self.assertEqual(none["rows"]["key"], self.ask()["rows"]["key"])

    def test_questions_that_make_no_sense(self):
        for status, query in ((400, {"by": "colour"}), (400, {"step": "x"}), (400, {"weight": "x"}),
                              (404, {"step": 1026}), (404, {"step": -2}), (404, {"module": "nope"})):
            self.assertEqual(self.answer(**query).status, status, query)
        self.assertIn("the last is 1025", self.answer(step=5000).json()["error"]["message"])


if __name__ == "__main__":
    unittest.main()
