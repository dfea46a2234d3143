"""GET /api/v1/buffer/hlo: the program around a buffer, against the compiler's own text of the same program."""
import gzip
import json
import re
import unittest

from server_fixture import FIXTURES, FixturesServed, Server

DUMP = FIXTURES / "xla_dump" / "v5e_both"
INSTRUCTION = re.compile(r"\s*(ROOT )?%(\S+) = (.+)")
OOM = {"session": "v5e_gpt_12layer_oom", "module": "jit_train_step(1)"}


def told_lines(text):
    """Instruction lines by name, the latest place of each."""
    found = {}
    for line in text.splitlines():
        match = INSTRUCTION.match(line)
        if match:
            found[match[2]] = match[3]
    return found


def compared(line):
    """What both texts tell: without the backend's settings and the attributes that ours leaves out."""
    line = re.sub(r", backend_config=\{.*$", "", line)
    return re.sub(r", dim_labels=[^,]*", "", line)


class OfADump(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server(logdir=DUMP).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__(None, None, None)

    def test_every_line_is_the_compilers(self):
        text = gzip.decompress(next(DUMP.glob("*oom_intermediate_module.txt.gz")).read_bytes()).decode()
        theirs = told_lines(text)
        module = {"session": "v5e_both", "module": self.module_called("jit_f")}
        seen = {}
        for number in self.server.get("/api/v1/memory_view", module).json()["buffers"]["logical_buffer_id"]:
            told = self.server.get("/api/v1/buffer/hlo", {**module, "logical_buffer_id": number}).json()
            seen.update(told_lines(told["text"]))
            own = compared(theirs[told["instruction"]])
            self.assertEqual(told_lines(told["text"].splitlines()[0])[told["instruction"]], own)
            operands = re.findall(r"%([^,\s]+)", re.search(r" [\w-]+\((.*?)\)(,|$)", own)[1])
            self.assertEqual(told["operands"], operands)
            used = re.compile(rf"\(.*%{re.escape(told['instruction'])}[,)]")
            users = {name for name, line in theirs.items() if used.search(line)}
            self.assertEqual(set(told["users"]), users)
            self.assertIn(f"ENTRY %{told['computation']} ", text)
        self.assertGreater(len(seen), 5)
        for name, line in seen.items():
            self.assertEqual(line, compared(theirs[name]), name)

    def module_called(self, name):
        rows = self.server.get("/api/v1/modules", {"session": "v5e_both"}).json()["modules"]
        return next(row["name"] for row in rows if row["name"].startswith(name))


class OfAProfile(FixturesServed):
    def test_what_is_left_out_is_counted(self):
        told = self.server.get("/api/v1/buffer/hlo", {**OOM, "logical_buffer_id": 14971}).json()
        self.assertEqual((told["instruction"], told["computation"]), ("fusion.14", "main.184"))
        self.assertEqual(told["computation_operations"], 2000)
        around = [int(count) for count in re.findall(r"// \.\.\. (\d+) operations (?:before|after)", told["text"])]
        self.assertEqual(sum(around), told["computation_left_out"])
        self.assertIn("calls=%fused_computation.20", told["text"].splitlines()[0])
        self.assertIn("%fused_computation.20 {", told["text"])
        self.assertIn("backend", told["note"])
        self.assertLess(len(json.dumps(told)), 1 << 20)

    def test_what_is_not_there(self):
        for query, status, words in (({**OOM, "logical_buffer_id": 10 ** 9}, 404, "logical buffer 1000000000"),
                                     ({**OOM, "logical_buffer_id": "x"}, 400, "logical_buffer_id"),
                                     (OOM, 400, "logical_buffer_id"),
                                     ({**OOM, "module": "nope", "logical_buffer_id": 1}, 404, "nope")):
            answer = self.server.get("/api/v1/buffer/hlo", query)
            self.assertEqual(answer.status, status, answer)
            self.assertIn(words, answer.json()["error"]["message"])


if __name__ == "__main__":
    unittest.main()
