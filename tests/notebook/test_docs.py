"""The examples of docs/python.md, as they stand: each block in turn in one kernel, with fixtures for its paths."""
import os
import tempfile
import unittest

from kernel import FIXTURES, PROFILES, REPO, Kernel, kinds

# What the text tells of rather than shows.
BEGIN = f"""
import sys, types, urllib.request
import pyarrow.parquet
import hbmview
message = open({str(FIXTURES / "oom_messages" / "v5e_gpt_12layer_oom.txt")!r}).read()
error = RuntimeError(message)
jax = types.SimpleNamespace(errors=types.SimpleNamespace(JaxRuntimeError=RuntimeError))
state = batch = None
def step(state, batch):
    raise error
"""
PATHS = {
    '"/tmp/xprof"': repr(str(PROFILES / "v5e_gpt_4layer")),
    "/tmp/xprof": str(PROFILES / "v5e_gpt_4layer"),
    '"/tmp/dump"': repr(str(PROFILES / "v5e_gpt_12layer_oom")),
    '"before"': repr(str(PROFILES / "v5e_gpt_4layer")),
    '"after"': repr(str(PROFILES / "v5e_gpt_12layer_oom")),
}
FAIL = ["    with hbmview.catch():"]  # the exception goes on its way


def blocks():
    """The indented blocks of the text, each with the paths that are there."""
    found, lines = [], []
    for line in [*(REPO / "docs" / "python.md").read_text().splitlines(), "end"]:
        if line.startswith("    ") or (lines and not line):
            lines.append(line)
        elif lines:
            found.append(lines)
            lines = []
    return found


class Examples(unittest.TestCase):
    def test_they_run(self):
        self.assertGreater(len(blocks()), 5)
        with tempfile.TemporaryDirectory() as folder, Kernel() as kernel:
            kernel.run(BEGIN + f"import os\nos.chdir({folder!r})")
            for lines in blocks():
                source = "\n".join(line[4:] for line in lines)
                for told, there in PATHS.items():
                    source = source.replace(told, there)
                with self.subTest(lines[0].strip()):
                    self.assertEqual("error" in kinds(kernel.run(source)), lines[0] in FAIL, source)
            self.assertIn("lines.parquet", os.listdir(folder))


if __name__ == "__main__":
    unittest.main()
