"""The rows of sessions: figures are XProf's, and what is donated is the compiler's own alias."""
import collections
import datetime
import gzip
import json
import os
import pathlib
import stat
import tempfile
import unittest

from fleets import GOLDEN, LogDir, PROFILES, REPO

from hbmview import fleet

MIB, TRAIN = 1 << 20, "jit_train_step(1)"


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.logdir = LogDir(self.folder / "logs")

    def rows(self, path=None, **settings):
        return list(fleet.rows_of(path or str(self.logdir.root), **settings))

    def of_kind(self, kind, path=None, memory_space=None, **settings):
        return [row for row in self.rows(path, **settings)
                if row["kind"] == kind and memory_space in (None, row["memory_space"])]

    def test_peaks_and_totals_are_xprofs(self):
        for session in ("v5e_gpt_4layer", "v5e_gpt_scan", "v5e_gpt_12layer_oom"):
            with gzip.open(GOLDEN / f"memory_viewer__{session}__{TRAIN}__0.json.gz") as file:
                xprof = json.load(file)
            [hbm] = self.of_kind("program", PROFILES / session, memory_space="HBM")
            self.assertEqual(round(xprof["totalBufferAllocationMib"] * MIB), hbm["total_bytes"])
            self.assertEqual(round(xprof["peakHeapMib"] * MIB), hbm["peak_bytes"])
            self.assertEqual((hbm["program"], hbm["module"], hbm["program_id"]), ("jit_train_step", TRAIN, "1"))

    def test_lines_sum_to_the_peak(self):
        rows = self.rows(PROFILES / "v5e_gpt_4layer")
        peaks = {row["memory_space"]: row["peak_bytes"] for row in rows if row["kind"] == "program"}
        sums = collections.Counter()
        for row in rows:
            if row["kind"] == "line":
                sums[row["memory_space"]] += row["size_bytes"]
        self.assertEqual(sums["HBM"], peaks["HBM"])

    def test_arguments_say_whether_they_are_donated(self):
        rows = self.of_kind("argument", PROFILES / "v5e_gpt_4layer", memory_space="HBM")
        [program] = self.of_kind("program", PROFILES / "v5e_gpt_4layer", memory_space="HBM")
        donated = sum(row["size_bytes"] for row in rows if row["is_donated"])
        self.assertEqual(donated, program["donated_bytes"])
        self.assertEqual(sum(row["size_bytes"] for row in rows if not row["is_donated"]), program["argument_bytes"])
        self.assertTrue({"params['emb']", "m['emb']", "v['emb']"} <= {row["key"] for row in rows if row["is_donated"]})
        self.assertFalse(any(row["is_donatable"] for row in rows))

    def test_what_could_be_donated_is_found_in_a_step_that_donates_nothing(self):
        compare = REPO / "tests" / "fixtures" / "compare"
        donating = self.of_kind("argument", compare / "plain.hlo.pb.gz")
        not_donating = self.of_kind("argument", compare / "not_donated.hlo.pb.gz")
        expected = sorted(row["size_bytes"] for row in donating if row["is_donated"])
        found = sorted(row["size_bytes"] for row in not_donating if row["is_donatable"])
        self.assertTrue(expected)
        self.assertEqual(found, expected)
        self.assertFalse(any(row["is_donated"] for row in not_donating))

    def test_every_row_has_every_column_and_one_row_closes_each_session(self):
        self.logdir.add("team/2026_11_03_10_20_30", "v5e_padded")
        self.logdir.add("nothing", "tf_leak")
        rows = self.rows()
        names = [name for name, _, _ in fleet.COLUMNS]
        self.assertTrue(all(list(row) == names for row in rows))
        found = {row["session"]: row for row in rows if row["kind"] == "session"}
        self.assertEqual(sorted(found), ["nothing", "team/2026_11_03_10_20_30"])
        told = found["team/2026_11_03_10_20_30"]
        self.assertEqual((told["state"], told["run"], told["programs"]), ("read", "team", 1))
        self.assertEqual(told["date"], "2026-11-03")
        self.assertEqual(told["time"], datetime.datetime(2026, 11, 3, 10, 20, 30))
        self.assertEqual((found["nothing"]["state"], found["nothing"]["programs"]), ("empty", 0))

    def test_a_broken_session_is_rows_with_the_reason(self):
        self.logdir.break_one("broken")
        failure, session = self.rows()
        self.assertEqual((failure["kind"], session["kind"], session["state"]), ("failure", "session", "failed"))
        self.assertEqual(failure["key"], str(self.logdir.file("broken")))
        self.assertIn("the file ends after", failure["reason"])
        self.assertIn(failure["reason"], session["reason"])

    def test_what_can_be_read_of_a_broken_session_is_there(self):
        self.logdir.add("half", "v5e_matmul")
        self.logdir.file("half").with_name("bad.xplane.pb.gz").write_bytes(b"no gzip")
        rows = self.rows()
        self.assertEqual(rows[-1]["state"], "partial")
        self.assertEqual([row["kind"] for row in rows].count("failure"), 1)
        self.assertEqual(rows[-1]["programs"], 1)

    def test_memory_over_time_is_asked_for(self):
        [row] = self.of_kind("memory", PROFILES / "tf_leak", memory_profile=True)
        self.assertEqual((row["memory_space"], row["peak_bytes"], row["capacity_bytes"], row["leaks"]),
                         ("bfc_cpu_allocator_for_gpu", 16657152, 68719476736, True))
        self.assertEqual(self.of_kind("memory", PROFILES / "tf_leak"), [])

    def test_device_memory_profiles_are_rows(self):
        path = REPO / "tests" / "fixtures" / "device_memory"
        expected = json.loads((path / "two_devices.expected.json").read_text())
        found = {row["memory_space"]: row["size_bytes"] for row in self.of_kind("arrays", path) if row["memory_space"]}
        self.assertEqual(found, expected)

    def program_that(self, script):
        path = self.folder / "hbmview"
        listing = f"case \"$*\" in *--sessions*) exec '{os.environ['HBMVIEW']}' \"$@\" ;; esac"
        path.write_text(f"#!/bin/sh\n{listing}\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        before, os.environ["HBMVIEW"] = os.environ["HBMVIEW"], str(path)
        self.addCleanup(os.environ.__setitem__, "HBMVIEW", before)

    def test_a_report_that_is_killed_hangs_or_says_nonsense_is_a_row(self):
        self.logdir.add("one", "v5e_matmul")
        program = os.environ["HBMVIEW"]
        for script, words in (("kill -9 $$", "SIGKILL"), ("exec sleep 60", "not read within 1 s"),
                              ("exit 3", "ended with 3"), ("echo 'hbmview: no room' >&2; exit 3", "no room")):
            with self.subTest(script=script):
                os.environ["HBMVIEW"] = program
                self.program_that(script)
                failure, session = self.rows(timeout_s=1)
                self.assertIn(words, failure["reason"])
                self.assertEqual(session["state"], "failed")


if __name__ == "__main__":
    unittest.main()
