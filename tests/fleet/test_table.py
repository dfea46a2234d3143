"""The table: what is there is not read again, what changed or failed is, and whatever stops a run, nothing is lost or
there twice. In this process; test_cluster does the same with Ray."""
import collections
import contextlib
import io
import pathlib
import tempfile
import unittest
from unittest import mock

from fleets import LogDir

import pyarrow.parquet

from hbmview import _fleet_command, _fleet_engines, fleet


class Table(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name, "table")
        self.logdir = LogDir(pathlib.Path(folder.name, "logs"))

    def run_fleet(self, **more):
        return fleet.run(self.logdir.root, self.out, engine="here", **more)

    def parts(self):
        return sorted(self.out.rglob("*.parquet"))

    def rows(self):
        return [row for part in self.parts() for row in pyarrow.parquet.read_table(part, partitioning=None).to_pylist()]

    def sessions(self):
        """By name; a session that is there twice is an error here."""
        found = collections.defaultdict(list)
        for row in self.rows():
            if row["kind"] == "session":
                found[row["session"]].append(row)
        self.assertEqual([name for name, rows in found.items() if len(rows) != 1], [])
        return {name: rows[0] for name, rows in found.items()}

    def peaks(self, session):
        return [row["peak_bytes"] for row in self.rows() if row["session"] == session and row["kind"] == "program"]

    def add_three(self):
        self.logdir.add("2026_11_03_a", "v5e_matmul")
        self.logdir.add("2026_11_03_b", "v5e_padded")
        self.logdir.add("2026_11_04_c", "v5e_matmul")

    def test_it_holds_all_rows_by_date(self):
        self.add_three()
        done = self.run_fleet()
        self.assertEqual((done.sessions, done.kept, done.read, done.failed), (3, 0, 3, 0))
        self.assertEqual([part.parent.name for part in self.parts()], ["date=2026-11-03", "date=2026-11-04"])
        expected = [{key: value for key, value in row.items() if key not in ("date", "seconds")}
                    for row in fleet.rows_of(self.logdir.root)]
        found = [{key: value for key, value in row.items() if key != "seconds"} for row in self.rows()]
        names = "session", "kind", "memory_space", "key"
        order = lambda row: [row["size_bytes"] or 0, *(str(row[name]) for name in names)]
        self.assertEqual(sorted(found, key=order), sorted(expected, key=order))
        self.assertEqual(done.rows, len(found))

    def test_what_is_there_is_not_read_again(self):
        self.add_three()
        self.run_fleet()
        before = {part: part.stat().st_mtime_ns for part in self.parts()}
        with mock.patch.object(_fleet_engines, "rows_of_session", side_effect=AssertionError("read again")):
            done = self.run_fleet()
        self.assertEqual((done.kept, done.read), (3, 0))
        self.assertEqual({part: part.stat().st_mtime_ns for part in self.parts()}, before)

    def test_a_session_that_changed_takes_its_place(self):
        self.add_three()
        self.run_fleet()
        before = self.peaks("2026_11_03_a"), self.peaks("2026_11_03_b")
        self.logdir.replace("2026_11_03_a", "v5e_gpt_4layer")
        done = self.run_fleet()
        self.assertEqual((done.kept, done.read), (2, 1))
        self.assertEqual(sorted(self.sessions()), ["2026_11_03_a", "2026_11_03_b", "2026_11_04_c"])
        self.assertNotEqual(self.peaks("2026_11_03_a"), before[0])
        self.assertEqual(self.peaks("2026_11_03_b"), before[1])

    def test_what_failed_is_tried_again(self):
        self.add_three()
        self.logdir.break_one("2026_11_04_d")
        self.assertEqual(self.run_fleet().failed, 1)
        self.assertEqual(self.sessions()["2026_11_04_d"]["state"], "failed")
        self.assertEqual(self.run_fleet().failed, 1)
        self.assertEqual(len(self.sessions()), 4)
        broken = self.logdir.file("2026_11_04_d")
        broken.unlink()
        self.logdir.root.joinpath("plugins/profile/2026_11_04_d/vm.xplane.pb.gz").write_bytes(
            self.logdir.file("2026_11_04_c").read_bytes())
        done = self.run_fleet()
        self.assertEqual((done.kept, done.read, done.failed), (3, 1, 0))
        self.assertEqual(self.sessions()["2026_11_04_d"]["state"], "read")
        self.assertEqual([row for row in self.rows() if row["kind"] == "failure"], [])

    def test_another_question_reads_all_again(self):
        self.add_three()
        self.run_fleet()
        self.assertEqual(self.run_fleet(memory_profile=True).read, 3)
        self.assertEqual(len(self.sessions()), 3)

    def test_a_run_that_is_stopped_goes_on(self):
        self.add_three()
        whole = _fleet_engines.do_task
        def second_fails(task, work, done=[]):
            done.append(task)
            if len(done) == 2:
                raise OSError("the disk is full")
            return whole(task, work)
        with mock.patch.object(_fleet_engines, "do_task", second_fails), \
                self.assertRaisesRegex(fleet.IncompleteFleet, "2 of 3 sessions were not read.* goes on") as caught:
            self.run_fleet(sessions_per_task=1)
        self.assertIsInstance(caught.exception.__cause__, OSError)
        self.assertEqual(len(self.sessions()), 1)
        self.assertEqual((self.run_fleet().kept, len(self.sessions())), (1, 3))

    def test_a_part_that_was_not_finished_is_none(self):
        self.add_three()
        with mock.patch.object(_fleet_engines.Parts, "_publish", side_effect=KeyboardInterrupt), \
                self.assertRaises(KeyboardInterrupt):
            self.run_fleet()
        self.assertEqual(self.parts(), [])
        self.assertEqual(self.run_fleet().read, 3)
        self.assertEqual(len(self.sessions()), 3)

    def test_two_runs_that_did_the_same_are_put_in_order(self):
        """The task of a run that was taken for dead, and was not."""
        self.add_three()
        tasks = fleet._tasks(fleet.listed(self.logdir.root), 32)
        work = _fleet_engines.Work(str(self.out), fleet.Settings(), 2)
        for _ in range(2):
            for done in _fleet_engines.here(tasks, work):
                self.assertGreater(done["rows"], 0)
        self.assertEqual(len(self.sessions()), 3)  # the same names: written over
        self.assertEqual(len(self.parts()), 2)
        for done in _fleet_engines.here(fleet._tasks(fleet.listed(self.logdir.root), 1), work):
            self.assertGreater(done["rows"], 0)
        self.assertEqual(len(self.parts()), 5)
        self.assertEqual(self.run_fleet().kept, 3)
        self.assertEqual(len(self.sessions()), 3)

    def test_no_session_is_nothing_to_do_and_a_wrong_path_says_so(self):
        with self.assertRaisesRegex(OSError, "No such file"):
            self.run_fleet()

    def command(self, *arguments):
        out, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                code = _fleet_command.main([str(argument) for argument in arguments])
            except SystemExit as left:
                code = left.code
        return code, out.getvalue(), errors.getvalue()

    def test_the_command_says_what_it_did(self):
        self.add_three()
        self.logdir.break_one("2026_11_04_d")
        code, out, errors = self.command(self.logdir.root, "--out", self.out, "--engine=here")
        self.assertEqual((code, errors), (0, ""))
        self.assertRegex(out, r"4 sessions: 0 there already, 4 read now \(3 read, 1 failed; \d+ rows, ")
        self.assertIn("SELECT path, reason", out)
        self.assertEqual(self.command(self.logdir.root / "no", "--out", self.out, "--engine=here")[0], 3)
        self.assertEqual(self.command(self.logdir.root)[0], 2)
        self.assertEqual(self.command(self.logdir.root, "--out", self.out, "--at_once=0")[0], 2)
        self.assertEqual(self.command("--help")[0], 0)


if __name__ == "__main__":
    unittest.main()
