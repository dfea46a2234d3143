"""hbmview.table: the report's rows as an Arrow table, whole, and in Parquet."""
import builtins
import pathlib
import tempfile
import unittest
from unittest import mock

from kernel import PROFILES

import pyarrow
import pyarrow.parquet
import hbmview

PROGRAM = ["session", "host", "module", "program_id", "memory_space"]
STEP = PROFILES / "v5e_gpt_4layer"


def spaces(**options):
    report = hbmview.report(PROFILES, **options)
    return [(module, space) for module in report["modules"] for space in module["memory_spaces"]]


class Rows(unittest.TestCase):
    def test_a_row_for_each_buffer_at_each_peak(self):
        expected = [buffer for _, space in spaces() for buffer in space["buffers_at_peak"]]
        table = hbmview.table(PROFILES)
        self.assertGreater(table.num_rows, 1000)
        self.assertEqual(table.drop_columns(PROGRAM).to_pylist(), expected)

    def test_buffers_sum_to_the_peak(self):
        table = hbmview.table(STEP, module="jit_train_step", memory_space="HBM")
        peak, = hbmview.table(STEP, "modules", module="jit_train_step", memory_space="HBM")["peak_bytes"].to_pylist()
        self.assertEqual(sum(table["size_bytes"].to_pylist()), peak)
        first = table.slice(0, 1).select(PROGRAM).to_pylist()[0]
        self.assertEqual(list(first.values()), ["v5e_gpt_4layer", "tpu-vm-0", "jit_train_step(1)", "1", "HBM"])

    def test_a_row_for_each_group(self):
        for by in "source", "dtype":
            expected = [(group["key"], group["size_bytes"]) for _, space in spaces(by=by)
                        for group in (space.get("groups") or {"rows": []})["rows"]]
            table = hbmview.table(PROFILES, "groups", by=None if by == "source" else by)
            self.assertEqual(list(zip(table["key"].to_pylist(), table["size_bytes"].to_pylist())), expected)
            self.assertEqual(set(table["by"].to_pylist()), {by})

    def test_a_row_for_each_program_and_memory_space(self):
        table = hbmview.table(PROFILES, "modules")
        found = spaces()
        self.assertEqual(table["peak_bytes"].to_pylist(), [space["peak_bytes"] for _, space in found])
        self.assertEqual(table["notes"].to_pylist(), [space["notes"] for _, space in found])

    def test_nothing_of_a_report_is_left_out(self):
        kept = set(hbmview.table(STEP, "modules").column_names)
        lists = {"space", "name", "buffers_at_peak", "buffers_at_peak_left_out", "groups"}
        self.assertEqual({key for _, space in spaces() for key in space} - kept - lists, set())
        rows = [row for _, space in spaces(by="source") for row in (space.get("groups") or {"rows": []})["rows"]]
        self.assertEqual({key for row in rows for key in row} - set(hbmview.table(STEP, "groups").column_names), set())

    def test_an_empty_one_has_its_columns(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.xplane.pb").write_bytes(b"")
            table = hbmview.table(folder)
        self.assertEqual((table.num_rows, table.schema.field("size_bytes").type), (0, pyarrow.int64()))


class Use(unittest.TestCase):
    def test_it_goes_into_parquet_and_back(self):
        table = hbmview.table(STEP, "groups", by="scope")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "groups.parquet")
            pyarrow.parquet.write_table(table, path)
            self.assertEqual(pyarrow.parquet.read_table(path), table)

    def test_what_cannot_be_asked_is_said(self):
        with self.assertRaisesRegex(ValueError, "of buffers, groups, modules, not of"):
            hbmview.table(STEP, "rows")
        with self.assertRaisesRegex(ValueError, 'of="groups", by="scope"'):
            hbmview.table(STEP, by="scope")
        with self.assertRaisesRegex(hbmview.ReadError, "/nonexistent"):
            hbmview.table("/nonexistent")

    def test_without_pyarrow_it_says_what_to_install(self):
        load = builtins.__import__

        def without(name, *rest):
            if name == "pyarrow":
                raise ImportError(name)
            return load(name, *rest)

        with mock.patch.object(builtins, "__import__", without):
            with self.assertRaisesRegex(ImportError, r"pip install 'hbmview\[fleet\]'"):
                hbmview.table(STEP)


if __name__ == "__main__":
    unittest.main()
