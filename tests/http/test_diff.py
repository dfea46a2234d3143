"""/api/v1/diff: what changed between two programs of any two sessions; the document of `hbmview diff`."""
import json
import pathlib
import subprocess
import unittest

from server_fixture import REPO, ServedCase, program

A = {"session": "v5e_gpt_4layer", "module": "jit_train_step(1)"}
B = {"session_b": "v5e_gpt_12layer_oom"}
PROFILES = pathlib.Path("tests/fixtures/logdir/plugins/profile")


class Diff(ServedCase):
    path, query = "/api/v1/diff", A

    def test_it_is_the_document_of_the_command(self):
        for arguments, query in (([], {}), (["--by=scope", "--top=5"], {"by": "scope", "top": 5}),
                                 (["--memory-space=VMEM"], {"memory_space": 1})):
            paths = [PROFILES / A["session"], PROFILES / B["session_b"]]
            command = [program(), "diff", *paths, "--format=json", *arguments]
            told = json.loads(subprocess.run(command, cwd=REPO, capture_output=True, check=True).stdout)
            self.assertEqual(told.pop("other_programs"), {"rows": [], "left_out": 0})
            self.assertEqual(self.ask(**B, **query), told)

    def test_each_part_sums_to_the_difference(self):
        for by in ("source", "phase", "argument"):
            found = self.ask(**B, by=by, top=7)
            for part in (found["groups"], found["buffers"]):
                self.assertEqual(sum(row["delta_bytes"] for row in part["rows"]) + part["left_out_delta_bytes"],
                                 found["b"]["peak_bytes"] - found["a"]["peak_bytes"])

    def test_what_is_not_said_of_b_is_as_of_a(self):
        found = self.ask()
        self.assertEqual((found["a"], found["groups"]["rows"], found["buffers"]["rows"]), (found["b"], [], []))
        self.assertEqual(self.ask(**B)["b"]["module"], A["module"])
        other = self.ask(session_b="v5e_matmul", module_b="jit__lambda(1)")
        self.assertEqual([other[side]["session"] for side in "ab"], [A["session"], "v5e_matmul"])

    def test_replies_of_other_pairs_are_other_replies(self):
        there = self.ask(**B)
        back = self.ask(session=B["session_b"], session_b=A["session"])
        self.assertEqual(there["peak_delta_bytes"], -back["peak_delta_bytes"])
        self.assertEqual(self.ask(**B), there)

    def test_questions_that_make_no_sense(self):
        for status, query in ((400, {"by": "colour"}), (400, {"top": "x"}), (400, {"top": -2}), (400, {"session": ""}),
                              (404, {"module": "nope"}), (404, {"module_b": "nope"}), (404, {"session_b": "nope"}),
                              (404, {"host_b": "nope"})):
            answer = self.answer(**query)
            self.assertEqual(answer.status, status, query)
            self.assertTrue(answer.json()["error"]["message"])
        self.assertIn("nope", self.answer(module_b="nope").json()["error"]["message"])


if __name__ == "__main__":
    unittest.main()
