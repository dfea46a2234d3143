"""The example for Beam, on its own DirectRunner: the same rows as rows_of makes."""
import collections
import importlib.util
import pathlib
import tempfile
import unittest

from fleets import LogDir, REPO

import pyarrow.parquet

from hbmview import fleet


class OnBeam(unittest.TestCase):
    def test_it_makes_the_same_rows(self):
        place = importlib.util.spec_from_file_location("on_beam", REPO / "python" / "examples" / "fleet_on_beam.py")
        example = importlib.util.module_from_spec(place)
        place.loader.exec_module(example)
        with tempfile.TemporaryDirectory() as folder:
            logdir = LogDir(pathlib.Path(folder, "logs"))
            logdir.add("2026_11_03_10_00_00", "v5e_matmul")
            logdir.break_one("2026_11_04_10_00_00")
            example.main(str(logdir.root), f"{folder}/table")
            [part] = pathlib.Path(folder).glob("table-*.parquet")
            found = pyarrow.parquet.read_table(part).to_pylist()
            expected = list(fleet.rows_of(logdir.root))
        count = lambda rows: collections.Counter((row["session"], row["kind"], row["key"], row["size_bytes"],
                                                  row["peak_bytes"], row["state"], row["time"]) for row in rows)
        self.assertEqual(count(found), count(expected))


if __name__ == "__main__":
    unittest.main()
