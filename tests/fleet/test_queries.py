"""The queries of docs/fleet.md, as they stand there, over a team's runs of which the answers are known."""
import pathlib
import re
import tempfile
import unittest

from fleets import LogDir, REPO

import duckdb

from hbmview import fleet

IN_THE_DOCUMENT = "/data/memory/**/*.parquet"


def queries():
    """The document's, each by the question that stands before it."""
    text = (REPO / "docs" / "fleet.md").read_text()
    return {question: query for question, query in re.findall(r"^([^\n]+\?)\n\n```sql\n(.*?)```", text, re.S | re.M)}


class Queries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = pathlib.Path(cls.folder.name, "table")
        logdir = LogDir(pathlib.Path(cls.folder.name, "logs"))
        for name, session in (("gpt/2026_11_01", "v5e_gpt_4layer"), ("gpt/2026_11_02", "v5e_gpt_scan"),
                              ("gpt/2026_11_03", "v5e_gpt_12layer_oom"), ("mlp/2026_11_01", "jax_cpu_mlp"),
                              ("mlp/2026_11_02", "jax_cpu_mlp"), ("small/2026_11_03", "v5e_matmul")):
            logdir.add(f"{name}_10_00_00", session)
        logdir.break_one("small/2026_11_04_10_00_00")
        fleet.run(logdir.root, cls.out, engine="here")
        cls.rows = list(fleet.rows_of(logdir.root))

    def ask(self, words):
        [query] = [query for question, query in queries().items() if words in question]
        self.assertIn(IN_THE_DOCUMENT, query)
        return duckdb.sql(query.replace(IN_THE_DOCUMENT, f"{self.out}/**/*.parquet")).fetchall()

    def of(self, kind):
        return [row for row in self.rows if row["kind"] == kind and row["memory_space"] in ("HBM", None)]

    def test_all_are_tried(self):
        tried = ("peak grew", "line costs most", "never donated", "could not be read", "close to the device's limit")
        self.assertEqual(len(queries()), len(tried))
        for words in tried:
            self.ask(words)

    def test_which_peak_grew(self):
        peaks = {row["session"]: row["peak_bytes"] for row in self.of("program") if row["run"] == "gpt"}
        small, scan, large = (peaks[f"gpt/2026_11_0{day}_10_00_00"] for day in (1, 2, 3))
        gib = lambda size: round(size / 1024**3, 2)
        self.assertEqual(self.ask("peak grew"), [
            ("gpt", "jit_train_step", "gpt/2026_11_03_10_00_00", gib(large), gib(large - scan)),
            ("gpt", "jit_train_step", "gpt/2026_11_02_10_00_00", gib(scan), gib(scan - small))])

    def test_which_line_costs_most(self):
        lines = {}
        for row in self.of("line"):
            lines.setdefault(row["key"], []).append(row)
        most = max(lines, key=lambda key: sum(row["size_bytes"] for row in lines[key]))
        first = self.ask("line costs most")[0]
        self.assertEqual(first[:3], (most, len({row["path"] for row in lines[most]}),
                                     round(sum(row["size_bytes"] for row in lines[most]) / 1024**3, 2)))
        self.assertGreater(first[2], 33)  # GiB, the large program's own line

    def test_what_is_never_donated(self):
        found = self.ask("never donated")
        self.assertTrue(found)
        self.assertEqual({row[0] for row in found}, {"mlp"})  # the others donate their state, or have none
        self.assertEqual({row[1] for row in found if row[3] == 2} & {"jit_train_step"}, {"jit_train_step"})

    def test_what_could_not_be_read(self):
        [(_, session, file, reason, _)] = self.ask("could not be read")
        self.assertEqual(session, "small/2026_11_04_10_00_00")
        self.assertTrue(file.endswith("vm.xplane.pb"))
        self.assertIn("the file ends after", reason)

    def test_what_is_close_to_the_limit(self):
        self.assertEqual([row[1] for row in self.ask("limit")], ["gpt/2026_11_03_10_00_00"])


if __name__ == "__main__":
    unittest.main()
