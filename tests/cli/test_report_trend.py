"""`hbmview report --trend`: log directories made of the fixtures' sessions under names that tell their time. Peaks and
totals are XProf's own answers to the same profiles."""
import csv
import gzip
import io
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from hbmview_command import FIXTURES, PROFILES, hbmview

MODULE, MIB = "jit_train_step(1)", 1 << 20
SMALL, LARGE, SCAN = "v5e_gpt_4layer", "v5e_gpt_12layer_oom", "v5e_gpt_scan"
GOOD, FAILED, USAGE, UNREADABLE = 0, 1, 2, 3


def xprof(session):
    """What XProf answers to that session: its peak and its total."""
    path = FIXTURES / "xprof_golden" / f"memory_viewer__{session}__{MODULE}__0.json.gz"
    told = json.loads(gzip.decompress(path.read_bytes()))
    return round(told["totalBufferAllocationMib"] * MIB)


class Trend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def add(self, name, session):
        shutil.copytree(PROFILES / session, self.root / "plugins" / "profile" / name)

    def break_one(self, name, session):
        """The first part of a session's file, as a full disk leaves it."""
        self.add(name, session)
        folder = self.root / "plugins" / "profile" / name
        for path in folder.iterdir():
            (folder / "vm.xplane.pb").write_bytes(gzip.decompress(path.read_bytes())[:30000])
            path.unlink()
        os.utime(folder / "vm.xplane.pb", (1_700_000_000, 1_700_000_000))

    def report(self, *arguments, code=GOOD, path=None):
        done = hbmview("report", path or self.root, "--trend", *arguments)
        self.assertEqual(done.code, code, done)
        return done

    def document(self, *arguments, **more):
        return self.report("--format=json", *arguments, **more).json()

    def add_story(self):
        for name, session in (("2026_11_03_10_00_00", LARGE), ("2026_11_01_10_00_00", SMALL),
                              ("2026_11_02_10_00_00", "v5e_matmul"), ("2026_11_04_10_00_00", SCAN)):
            self.add(name, session)

    def test_the_figures_are_xprofs_in_order_of_time(self):
        self.add_story()
        found = self.document()
        points = found["points"]
        self.assertEqual((found["subject"], found["complete"]), ("jit_train_step", True))
        self.assertEqual(points["session"], [f"2026_11_0{day}_10_00_00" for day in (1, 2, 3, 4)])
        self.assertEqual(points["state"], ["ready", "absent", "ready", "ready"])
        self.assertIn("jit__lambda", points["reason"][1])
        for at, session in ((0, SMALL), (2, LARGE), (3, SCAN)):
            self.assertEqual(points["total_allocation_bytes"][at], xprof(session))
            alone = hbmview("report", PROFILES / session, "--format=json", "--memory-space=HBM").json()
            space = alone["modules"][0]["memory_spaces"][0]
            self.assertEqual(points["peak_bytes"][at], space["peak_bytes"])
        self.assertEqual(points["peak_delta_bytes"][2], points["peak_bytes"][2] - points["peak_bytes"][0])

    def test_lines_sum_to_the_peaks(self):
        self.add_story()
        for arguments in ([], ["--top=3"], ["--by=phase"], ["--by=argument", "--top=0"]):
            found = self.document(*arguments)
            lines = found["lines"]
            for at, peak in enumerate(found["points"]["peak_bytes"]):
                held = [line[at] for line in lines["bytes"]] + [lines["rest_bytes"][at]]
                self.assertEqual(held if peak is None else sum(held), [None] * len(held) if peak is None else peak)

    def test_the_jump_is_what_diff_says(self):
        self.add_story()
        jump = self.document()["jump"]
        self.assertEqual((jump["before"]["session"], jump["after"]["session"]),
                         ("2026_11_01_10_00_00", "2026_11_03_10_00_00"))
        diff = hbmview("diff", PROFILES / SMALL, PROFILES / LARGE, "--format=json").json()
        self.assertEqual(jump["peak_delta_bytes"], diff["peak_delta_bytes"])
        self.assertEqual(jump["groups"]["rows"], diff["groups"]["rows"][:len(jump["groups"]["rows"])])
        rest = jump["groups"]["left_out_delta_bytes"]
        self.assertEqual(sum(row["delta_bytes"] for row in jump["groups"]["rows"]) + rest, jump["peak_delta_bytes"])
        row = jump["groups"]["rows"][0]
        self.assertTrue(jump["text"].startswith("2026-11-03: +52.41 GiB"), jump["text"])
        self.assertIn(f"at {row['key']} ({row['a_buffers']} -> {row['b_buffers']} buffers)", jump["text"])
        text = " ".join(self.report().out.split())
        self.assertIn(jump["text"], text)

    def test_a_peak_that_never_grows_has_no_jump(self):
        self.add("2026_11_01_10_00_00", LARGE)
        self.add("2026_11_02_10_00_00", SMALL)
        self.assertIsNone(self.document()["jump"])
        self.assertIn("never grew", self.report().out)

    def test_a_module_is_followed_by_name_whatever_its_number(self):
        self.add_story()
        for name in ("jit_train_step", "jit_train_step(1)", "jit_train_step(77)"):
            self.assertEqual(self.document(f"--module={name}")["ready"], 3)
        self.assertEqual(self.document("--module=jit__lambda")["points"]["state"].count("ready"), 1)
        done = self.report("--module=nope", code=UNREADABLE)
        self.assertIn("jit_train_step", done.errors)

    def test_a_broken_session_is_a_row_and_no_end(self):
        self.add_story()
        self.break_one("2026_11_02_12_00_00", SMALL)
        done = self.report("--format=json")
        points = done.json()["points"]
        at = points["session"].index("2026_11_02_12_00_00")
        self.assertEqual(points["state"][at], "error")
        self.assertIn("ends after", points["reason"][at])
        self.assertIn("2026_11_02_12_00_00", done.errors)
        self.assertEqual(done.json()["ready"], 3)

    def test_the_newest_broken_is_a_failure(self):
        self.add_story()
        self.break_one("2026_11_09_10_00_00", SMALL)
        self.report(code=UNREADABLE)

    def test_what_cannot_be_looked_into_is_an_error_whichever_session_it_is_of(self):
        self.add_story()
        link = self.root / "plugins" / "profile" / "2026_11_01_10_00_00" / "more.xplane.pb"
        link.symlink_to("nowhere")
        done = self.report("--format=json", code=UNREADABLE)
        self.assertEqual(done.json()["ready"], 3)
        [unlisted] = done.json()["unlisted"]
        self.assertEqual(unlisted["reason"], "a link that leads nowhere")
        self.assertEqual(unlisted["path"], str(link.parent.resolve() / link.name))
        [error] = done.json()["errors"]
        self.assertEqual((error["code"], error["file"]), ("unreadable", unlisted["path"]))
        self.assertIn("a link that leads nowhere", done.errors)
        alone = hbmview("report", self.root, "--format=json")
        self.assertEqual((alone.code, alone.json()["errors"]), (UNREADABLE, [error]))

    def test_growth_of_the_newest(self):
        self.add("2026_11_01_10_00_00", SMALL)
        self.add("2026_11_02_10_00_00", LARGE)
        for limit, code in (("1GiB", FAILED), ("60GiB", GOOD), ("100%", FAILED), ("20000%", GOOD), ("0%", FAILED)):
            for of in ("peak", "total"):
                done = self.report(f"--max-growth={limit}", f"--of={of}", code=code)
                self.assertEqual("OVER THE LIMIT" in done.out, code == FAILED)
                self.assertEqual(f"the {of} grew by" in done.errors, code == FAILED)
        self.add("2026_11_03_10_00_00", LARGE)
        self.report("--max-growth=0%")
        growth = self.document("--max-growth=1GiB")["growth"]
        self.assertEqual(growth, {"of": "peak", "delta_bytes": 0, "limit_bytes": 1 << 30, "is_over": False})

    def test_csv(self):
        self.add_story()
        rows = list(csv.DictReader(io.StringIO(self.report("--format=csv").out)))
        self.assertEqual([row["state"] for row in rows], ["ready", "absent", "ready", "ready"])
        self.assertEqual(rows[2]["total_allocation_bytes"], str(xprof(LARGE)))
        held = list(csv.DictReader(io.StringIO(self.report("--format=csv", "--by=source", "--top=2").out)))
        for row in rows:
            parts = [int(part["size_bytes"]) for part in held if part["session"] == row["session"]]
            self.assertEqual(sum(parts), int(row["peak_bytes"] or 0))
        self.assertEqual([row["key"] for row in held].count("(left out)"), 3)

    def test_a_memory_of_the_memory_profile(self):
        for day, session in enumerate(("tf_leak", "tf_no_memory_events", "tf_oom"), 1):
            self.add(f"2026_11_0{day}_10_00_00", session)
        found = self.document("--tool=memory_profile")
        self.assertEqual(found["subject"], "bfc_cpu_allocator_for_gpu")
        self.assertEqual(found["points"]["state"], ["ready", "absent", "ready"])
        for at, session in ((0, "tf_leak"), (2, "tf_oom")):
            alone = hbmview("report", PROFILES / session, "--tool=memory_profile", "--format=json",
                            "--memory-id=bfc_cpu_allocator_for_gpu").json()
            memory = alone["sessions"][0]["hosts"][0]["memories"][0]
            self.assertEqual(found["points"]["peak_bytes"][at], memory["overview"]["peak_bytes"])
        self.assertEqual(found["points"]["total_allocation_bytes"], [None] * 3)
        self.assertIn("AddV2", found["jump"]["text"])

    def test_device_memory_profiles_in_order_of_their_files(self):
        profile = FIXTURES / "device_memory" / "two_devices.memory.prof"
        for number, name in enumerate(("b.prof", "a.prof")):
            shutil.copy(profile, self.root / name)
            os.utime(self.root / name, (1_700_000_000 + number, 1_700_000_000 + number))
        found = self.document("--tool=device_memory")
        self.assertEqual(found["points"]["file"], ["b.prof", "a.prof"])
        expected = json.loads((FIXTURES / "device_memory" / "two_devices.expected.json").read_text())
        self.assertEqual(found["points"]["peak_bytes"], [sum(expected.values())] * 2)

    def test_text_of_memories(self):
        for day, session in enumerate(("tf_leak", "tf_no_memory_events", "tf_oom"), 1):
            self.add(f"2026_11_0{day}_10_00_00", session)
        text = self.report("--tool=memory_profile").out
        self.assertIn("bfc_cpu_allocator_for_gpu over 3 sessions\n", text)
        self.assertRegex(text, r"2026_11_02_10_00_00 +- +absent")
        self.assertNotIn("hbmview diff", text)
        rows = [line for line in self.report("--tool=memory_profile", "--format=markdown").out.splitlines()
                if line.startswith("| 2026")]
        self.assertEqual(len(rows), 3)

    def test_text_of_device_memory_profiles_of_one_session(self):
        profile = FIXTURES / "device_memory" / "two_devices.memory.prof"
        self.add("2026_11_01_10_00_00", "tf_tiny")
        for number, name in enumerate(("b.memory.prof", "a.memory.prof")):
            path = self.root / "plugins" / "profile" / "2026_11_01_10_00_00" / name
            shutil.copy(profile, path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        text = self.report("--tool=device_memory").out
        self.assertIn("over 2 files\n", text)
        self.assertLess(text.index("2026_11_01_10_00_00 / b.memory.prof"),
                        text.index("2026_11_01_10_00_00 / a.memory.prof"))
        self.assertIn("never grew", text)

    def test_several_programs_of_a_name(self):
        self.add("2026_11_01_10_00_00", SMALL)
        self.add("2026_11_02_10_00_00", SCAN)
        newest = self.root / "plugins" / "profile" / "2026_11_02_10_00_00"
        shutil.copy(next((PROFILES / LARGE).glob("*.xplane.pb.gz")), newest / "other.xplane.pb.gz")
        found = self.document()
        self.assertEqual((found["points"]["of"], found["points"]["host"][1]), ([1, 2], "other"))
        self.assertEqual(found["points"]["total_allocation_bytes"][1], xprof(LARGE))
        self.assertRegex(self.report("--format=markdown").out, r"\| jit.{0,2}train.{0,2}step\(1\) \+1 \|")
        [host] = [path.name.split(".")[0] for path in newest.iterdir() if not path.name.startswith("other")]
        alone = self.document(f"--host={host}")["points"]
        self.assertEqual((alone["of"][1], alone["total_allocation_bytes"][1]), (1, xprof(SCAN)))

    def test_the_reason_is_of_the_host_that_was_asked_for(self):
        self.add("2026_11_01_10_00_00", SMALL)
        [file] = (self.root / "plugins" / "profile" / "2026_11_01_10_00_00").glob("*.xplane.pb.gz")
        (file.parent / "broken.xplane.pb").write_bytes(b"\x07" * 64)
        told = hbmview("report", self.root, "--trend", "--module=nope", f"--host={file.name.split('.')[0]}").errors
        self.assertIn("No session has module", told)
        self.assertNotIn("broken", told)
        self.assertIn("broken", hbmview("report", self.root, "--trend", "--module=nope").errors)

    def test_nothing_of_a_host_that_is_nowhere(self):
        self.add("2026_11_01_10_00_00", SMALL)
        done = hbmview("report", self.root, "--trend", "--host=nobody")
        self.assertEqual(done.code, UNREADABLE)
        self.assertIn("No session holds a compiled program of host nobody.", done.errors)

    def test_a_limit_without_two_sessions(self):
        self.add("2026_11_01_10_00_00", SMALL)
        for arguments in ([], ["--format=json"]):
            done = self.report("--max-growth=1%", *arguments)
            self.assertIn("there are no two sessions to compare", done.errors)
        growth = done.json()["growth"]
        self.assertEqual((growth["delta_bytes"], growth["limit_bytes"], growth["is_over"]), (None, None, None))

    def test_one_session_and_none(self):
        self.assertEqual(self.document(path=PROFILES / SMALL)["ready"], 1)
        self.assertIn("One session only", self.report(path=PROFILES / SMALL).out)
        (self.root / "empty").mkdir()
        self.report(code=UNREADABLE, path=self.root / "empty")

    def test_flags_that_make_no_sense(self):
        for arguments in (["--trend", "--session=a"], ["--trend", "--step=3"], ["--trend", "--format=html"],
                          ["--trend", "--fail-over=1G"], ["--max-growth=1G"], ["--tool=device_memory"],
                          ["--trend", "--max-growth=much"], ["--trend", "--max-growth=-1%"]):
            done = hbmview("report", PROFILES, *arguments)
            self.assertEqual(done.code, USAGE, done)


if __name__ == "__main__":
    unittest.main()
