"""`hbmview report` on device memory profiles: alone, beside modules, in every format, damaged."""
import csv
import gzip
import io
import json
import pathlib
import re
import shutil
import tempfile
import unittest

from hbmview_command import FIXTURES, PROFILES, hbmview

FILE = FIXTURES / "device_memory" / "two_devices.memory.prof"
HELD = json.loads((FIXTURES / "device_memory" / "two_devices.expected.json").read_text())
GOOD, UNREADABLE = 0, 3


class DeviceMemory(unittest.TestCase):
    def report(self, *arguments, code=GOOD):
        done = hbmview("report", *arguments)
        self.assertEqual(done.code, code, done)
        if code == GOOD:
            self.assertEqual(done.errors, "")
        return done

    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def session(self):
        """A session folder with a program and a device memory profile."""
        root = self.folder()
        shutil.copytree(PROFILES / "v5e_matmul", root / "plugins" / "profile" / "run")
        shutil.copy(FILE, root / "plugins" / "profile" / "run" / "held.prof")
        return root

    def test_text_names_sizes_functions_and_stacks(self):
        out = self.report(FILE).out
        self.assertIn(f"Device memory: {FILE.name}\n", out)
        self.assertRegex(out, r"buffer +cpu:0 +4\.81 MiB +90\.6 % +13\n")
        self.assertRegex(out, r"executable +\(not told\) +0 B ")
        self.assertRegex(out, r"768\.00 KiB +768\.00 KiB +8 +make_batch +/home/u/train\.py\n")
        self.assertIn("make_batch train.py:7", out)
        self.assertNotIn("site-packages", out)  # the user's own frames
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_top_bounds_functions_and_stacks(self):
        out = self.report(FILE, "--top=2").out
        self.assertEqual(sum(line.startswith("- ") for line in out.splitlines()), 2)
        self.assertIn("6 more function(s)", out)

    def test_json_holds_every_sample(self):
        document = self.report(FILE, "--format=json").json()
        self.assertEqual(set(document), {"device_memory", "errors"})
        [profile] = document["device_memory"]
        held = {}
        for sample in profile["samples"]:
            if sample["kind"] == "buffer":
                held[sample["device"]] = held.get(sample["device"], 0) + sample["bytes"]
        self.assertEqual(held, HELD)
        self.assertEqual(profile["bytes"], sum(HELD.values()))
        self.assertEqual({g["device"]: g["bytes"] for g in profile["groups"] if g["kind"] == "buffer"}, HELD)
        self.assertEqual(max(f["total_bytes"] for f in profile["own_functions"]), sum(HELD.values()))

    def test_csv_is_a_row_for_each_sample(self):
        rows = list(csv.DictReader(io.StringIO(self.report(FILE, "--format=csv").out)))
        held = {}
        for row in rows:
            if row["kind"] == "buffer":
                held[row["device"]] = held.get(row["device"], 0) + int(row["bytes"])
        self.assertEqual(held, HELD)
        self.assertTrue(all(row["stack"].startswith("<module> (/home/u/run.py:") for row in rows))

    def test_markdown_is_a_table(self):
        self.assertIn("| buffer | cpu:0 | 4.81 MiB | 90.6 % | 13 |", self.report(FILE, "--format=markdown").out)

    def test_beside_modules(self):
        root = self.session()
        modules_alone = self.report(PROFILES / "v5e_matmul").out
        out = self.report(root).out
        self.assertIn("jit__lambda(1)", out)
        self.assertTrue(out.index("jit__lambda(1)") < out.index("Device memory: run / held.prof"))
        self.assertNotIn("Device memory", modules_alone)
        document = self.report(root, "--format=json").json()
        self.assertEqual([m["module"] for m in document["modules"]], ["jit__lambda(1)"])
        self.assertEqual([(p["session"], p["file"]) for p in document["device_memory"]], [("run", "held.prof")])
        self.assertNotIn("device_memory", self.report(PROFILES / "v5e_matmul", "--format=json").json())
        self.assertNotIn("Device memory", self.report(root, "--module=jit__lambda(1)").out)

    def test_session_chooses(self):
        root = self.session()
        shutil.copy(FILE, root / "memory.prof")
        alone = self.report(root, "--session=memory.prof", "--format=json").json()
        self.assertEqual([p["session"] for p in alone["device_memory"]], ["memory.prof"])
        self.assertNotIn("modules", alone)
        run = self.report(root, "--session=run", "--format=json").json()
        self.assertEqual([p["session"] for p in run["device_memory"]], ["run"])
        both = self.report(root, "--format=json").json()
        self.assertEqual([p["session"] for p in both["device_memory"]], ["memory.prof", "run"])

    def test_a_damaged_one_is_told(self):
        root = self.folder()
        (root / "bad.prof").write_bytes(FILE.read_bytes()[:-400])
        shutil.copy(FILE, root / "good.prof")
        done = self.report(root, code=UNREADABLE)
        self.assertIn("Device memory: good.prof", done.out)
        self.assertRegex(done.errors, r"\Ahbmview: .*/bad\.prof: .*\n\Z")
        document = json.loads(self.report(root, "--format=json", code=UNREADABLE).out)
        self.assertEqual([p["file"] for p in document["device_memory"]], ["good.prof"])
        self.assertTrue(document["errors"][0]["file"].endswith("/bad.prof"))

    def test_another_profile_is_no_profile(self):
        root = self.folder()
        (root / "cpu.prof").write_bytes(b"{(\x01\x00\x00\x00s")
        done = self.report(root / "cpu.prof", code=UNREADABLE)
        self.assertEqual(done.out, "")
        self.assertRegex(done.errors, r"/cpu\.prof.*expected a device memory profile, .*\(cProfile\)")
        self.assertNotIn("its name is not that of a profile", done.errors)

    def test_an_empty_cut_or_senseless_one_is_told(self):
        whole = gzip.decompress(FILE.read_bytes())
        broken = {"memory.prof": (b"", "the file is empty"),
                  "cut.prof": (whole[:1], "begins with a sample type of pprof"),
                  "types.prof": (whole[:12], "a device memory profile"),
                  "cut.prof.gz": (FILE.read_bytes()[:9], "the gzip stream ends early"),
                  "noise.pprof": (b"no such thing", "begins with a sample type of pprof"),
                  "other.prof": (b"\x12\x00", "expected the names of the sample types")}
        root = self.folder()
        run = root / "plugins" / "profile" / "run"
        run.mkdir(parents=True)
        shutil.copy(FILE, run / "good.prof")
        for name, (content, words) in broken.items():
            with self.subTest(name):
                (root / name).write_bytes(content)
                for path in (root / name, root):
                    done = self.report(path, code=UNREADABLE)
                    self.assertRegex(done.errors, rf"/{re.escape(name)}.*{re.escape(words)}")
                    self.assertNotIn("its name", done.errors)
                error = json.loads(self.report(root / name, "--format=json", code=UNREADABLE).out)["errors"][0]
                self.assertTrue(error["file"].endswith(name))
                self.assertIn(words, error["message"])
                self.assertGreaterEqual(error["offset"], 0)
                (root / name).rename(run / name)  # beside a good one
                done = self.report(root, code=UNREADABLE)
                self.assertRegex(done.errors, rf"/{re.escape(name)}.*{re.escape(words)}")
                self.assertIn("Device memory: run / good.prof", done.out)
                (run / name).unlink()


if __name__ == "__main__":
    unittest.main()
