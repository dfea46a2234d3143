"""`hbmview report --sessions`: what there is, so that others may share the work: paths that commands take, versions
that change with the files, dates."""
import csv
import gzip
import io
import os
import pathlib
import shutil
import tempfile
import unittest

from hbmview_command import FIXTURES, PROFILES, hbmview

GOOD, USAGE, UNREADABLE = 0, 2, 3
KEYS = ["name", "path", "date", "time_s", "modified_s", "version"]
LONG_AGO = 1_700_000_000


class Sessions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def add(self, name, session="v5e_matmul"):
        shutil.copytree(PROFILES / session, self.root / name)
        return self.root / name

    def list(self, *arguments, code=GOOD, path=None):
        done = hbmview("report", path or self.root, "--sessions", *arguments)
        self.assertEqual(done.code, code, done)
        return done

    def sessions(self):
        return {row["name"]: row for row in self.list("--format=json").json()["sessions"]}

    def test_each_path_is_one_that_commands_take(self):
        self.add("team/plugins/profile/2026_11_03_10_00_00")
        self.add("other/plugins/profile/nightly", "v5e_padded")
        found = self.sessions()
        self.assertEqual(sorted(found), ["other/nightly", "team/2026_11_03_10_00_00"])
        for name, row in found.items():
            self.assertEqual(list(row), KEYS)
            alone = hbmview("report", row["path"], "--format=json").json()["modules"]
            here = hbmview("report", self.root, f"--session={name}", "--format=json").json()["modules"]
            self.assertEqual([m["memory_spaces"] for m in alone], [m["memory_spaces"] for m in here])
            self.assertTrue(alone)

    def test_the_date_is_that_of_the_name_else_of_the_last_change(self):
        self.add("plugins/profile/2026_11_03_10_20_30")
        os.utime(self.add("plugins/profile/nightly"), (LONG_AGO, LONG_AGO))
        found = self.sessions()
        self.assertEqual(found["2026_11_03_10_20_30"]["date"], "2026-11-03")
        self.assertEqual(found["2026_11_03_10_20_30"]["time_s"], 1793701230)
        self.assertEqual(found["nightly"]["date"], "2023-11-14")
        self.assertEqual(found["nightly"]["time_s"], LONG_AGO)

    def test_the_version_changes_with_the_sessions_files_alone(self):
        one, two = self.add("plugins/profile/one"), self.add("plugins/profile/two")
        before = self.sessions()
        (one / "notes.txt").write_text("not a profile")
        self.assertEqual(self.sessions()["one"]["version"], before["one"]["version"])
        shutil.copy(next(two.iterdir()), one / "other.xplane.pb.gz")
        after = self.sessions()
        self.assertNotEqual(after["one"]["version"], before["one"]["version"])
        self.assertEqual(after["two"], before["two"])

    def test_what_is_still_written_is_told_apart(self):
        self.add("plugins/profile/whole")
        folder = self.root / "plugins" / "profile" / "begun"
        folder.mkdir()
        whole = gzip.decompress(next((PROFILES / "v5e_gpt_4layer").iterdir()).read_bytes())
        (folder / "vm.xplane.pb").write_bytes(whole[:30000])
        found = self.list("--format=json").json()
        self.assertEqual([row["name"] for row in found["sessions"]], ["whole"])
        self.assertEqual([row["path"] for row in found["pending"]], [str(folder)])
        self.assertIn(str(folder), self.list("--format=markdown").out.replace("\\", ""))

    def test_device_memory_profiles_are_listed(self):
        found = self.list("--format=json", path=FIXTURES / "device_memory").json()
        self.assertEqual(found["sessions"], [])
        self.assertEqual([row["name"] for row in found["device_memory"]], ["two_devices.memory.prof"])
        self.assertEqual(found["errors"], [])

    def test_all_formats_tell_the_same_sessions(self):
        self.add("plugins/profile/2026_11_03_10_00_00")
        self.add("plugins/profile/b")
        told = self.sessions()
        rows = list(csv.DictReader(io.StringIO(self.list("--format=csv").out)))
        self.assertEqual(rows, [{key: str(row[key]) for key in KEYS} for row in told.values()])
        text, markdown = self.list().out, self.list("--format=markdown").out
        for row in told.values():
            self.assertIn(row["name"], text)
            self.assertIn(row["version"], text)
            self.assertIn(row["version"], markdown)

    def test_what_is_not_there_says_so(self):
        done = self.list("--format=json", code=UNREADABLE, path=self.root / "no")
        self.assertEqual(done.json()["sessions"], [])
        self.assertIn("No such file", done.json()["errors"][0]["message"])
        self.assertIn("There are no profiles here", self.list(code=UNREADABLE).errors)

    def test_what_could_not_be_looked_into_is_told_beside_what_is_there(self):
        shutil.copy(FIXTURES / "device_memory" / "two_devices.memory.prof", self.root)
        (self.root / "runs").mkdir()
        (self.root / "runs" / "gone.xplane.pb").symlink_to("nowhere")
        done = self.list(code=UNREADABLE)
        self.assertIn("two_devices.memory.prof", done.out)
        self.assertIn("gone.xplane.pb: a link that leads nowhere", done.errors)
        self.assertNotIn("There are no profiles here", done.errors)

    def test_a_session_may_be_where_nobody_could_look(self):
        self.add("runs/one")
        (self.root / "runs" / "gone.xplane.pb").symlink_to("nowhere")
        done = hbmview("report", self.root, "--session=two")
        self.assertEqual(done.code, UNREADABLE)
        self.assertIn('There is no session "two" in what could be listed; there are', done.errors)

    def test_options_that_read_sessions_do_not_go_with_it(self):
        for option in ("--session=a", "--module=f", "--memory-space=HBM", "--top=3", "--by=source", "--weight=padding",
                       "--step=0", "--frameworks=a", "--tool=memory_profile", "--host=h", "--memory-id=0",
                       "--fail-over=1GiB", "--trend", "--max-growth=5%", "--format=html"):
            with self.subTest(option=option):
                done = self.list(option, code=USAGE)
                self.assertRegex(done.errors, r"\Ahbmview: --[a-z=-]+ does not go with --sessions\.\n\Z")


if __name__ == "__main__":
    unittest.main()
