"""hbmview watch: a line for each new program or peak while files come, grow, are replaced and go."""
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import unittest

from hbmview_command import hbmview, program

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
HEARD_SECONDS = 90
LONG_AGO = (1_700_000_000, 1_700_000_000)


def file_of(session):
    return sorted(PROFILES.joinpath(session).glob("*.xplane.pb*"))[0]


class Watch:
    """A watch that runs; `line()` and `complaint()` wait for what it says next."""

    def __init__(self, *arguments, environment=None):
        self.process = subprocess.Popen([program(), "watch", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.lines, self.complaints = queue.Queue(), queue.Queue()
        for stream, said in ((self.process.stdout, self.lines), (self.process.stderr, self.complaints)):
            threading.Thread(target=self._read, args=(stream, said), daemon=True).start()

    @staticmethod
    def _read(stream, said):
        for line in stream:
            said.put(line.rstrip("\n"))
        said.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def line(self):
        return self.lines.get(timeout=HEARD_SECONDS)

    def complaint(self):
        return self.complaints.get(timeout=HEARD_SECONDS)

    def begun(self):
        said = self.complaint()
        assert said.startswith("hbmview: watching "), said
        return said

    def end(self, with_signal=signal.SIGINT):
        self.process.send_signal(with_signal)
        return self.process.wait(HEARD_SECONDS)


class Folder(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="hbmview-watch-")
        self.addCleanup(place.cleanup)
        self.root = pathlib.Path(place.name, "run")
        self.root.mkdir()

    def add(self, session, fixture):
        """A session that is whole at once, and at no moment gone: one that is there has its file replaced."""
        aside = self.root.parent / "aside"
        aside.mkdir()
        copy = aside / file_of(fixture).name
        shutil.copyfile(file_of(fixture), copy)
        os.utime(copy, LONG_AGO)
        target = self.root / "plugins" / "profile" / session
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            os.replace(copy, target / copy.name)
            aside.rmdir()
        else:
            os.rename(aside, target)
        return target / copy.name


class News(Folder):
    def test_only_what_is_new(self):
        self.add("run1", "v5e_matmul")
        with Watch(self.root) as watch:
            self.assertIn("1 session so far", watch.begun())
            self.add("run2", "v5e_gpt_12layer_oom")
            self.assertRegex(watch.line(), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  run2 / tpu-vm-0 / jit_train_step\(1\): "
                                           r"peak 52\.90 GiB.*, total 52\.93 GiB; train\.py:53 33\.09 GiB$")
            self.assertEqual(watch.end(), 0)
            self.assertIsNone(watch.line())

    def test_what_is_there_first(self):
        self.add("run1", "v5e_matmul")
        self.add("run2", "v5e_padded")
        with Watch(self.root, "--existing") as watch:
            self.assertIn("  run1 / ", watch.line())
            self.assertIn("  run2 / ", watch.line())
            self.add("run3", "v5e_gpt_12layer_oom")
            self.assertIn("  run3 / ", watch.line())
            self.assertEqual(watch.end(signal.SIGTERM), 0)

    def test_a_file_that_is_written_slowly_is_told_when_it_is_whole(self):
        data = file_of("v5e_gpt_12layer_oom").read_bytes()
        with Watch(self.root) as watch:
            watch.begun()
            path = self.root / "plugins" / "profile" / "run1" / "h.xplane.pb.gz"
            path.parent.mkdir(parents=True)
            with open(path, "wb") as file:
                for at in range(0, len(data), len(data) // 7 + 1):
                    file.write(data[at:at + len(data) // 7 + 1])
                    file.flush()
            self.assertIn("  run1 / h / jit_train_step(1): peak 52.90 GiB", watch.line())
            self.assertEqual(watch.end(), 0)
            self.assertIsNone(watch.complaint())

    def test_replaced_by_the_same_is_no_news_by_another_is(self):
        self.add("run1", "v5e_matmul")
        with Watch(self.root, "--existing") as watch:
            first = watch.line()
            os.utime(self.add("run1", "v5e_matmul"))
            self.add("run1", "v5e_padded")
            second = watch.line()
            self.assertEqual(("  run1 / " in first, "  run1 / " in second), (True, True))
            self.assertNotEqual(first.partition(": peak")[2], second.partition(": peak")[2])
            shutil.rmtree(self.root / "plugins" / "profile" / "run1")
            self.add("run2", "v5e_matmul")
            self.assertIn("  run2 / ", watch.line())

    def test_what_could_not_be_looked_into_is_told(self):
        self.add("run1", "v5e_matmul")
        (self.root / "plugins" / "profile" / "run1" / "gone.xplane.pb").symlink_to("nowhere")
        done = hbmview("watch", self.root, "--once")
        self.assertEqual(done.code, 3, done)
        self.assertIn("  run1 / ", done.out)
        self.assertIn("gone.xplane.pb: a link that leads nowhere", done.errors)

    def test_a_broken_file_is_told_once_and_the_rest_goes_on(self):
        with Watch(self.root) as watch:
            watch.begun()
            path = self.root / "plugins" / "profile" / "run1" / "h.xplane.pb"
            path.parent.mkdir(parents=True)
            path.write_bytes(b"\xff" * 64)
            self.assertRegex(watch.complaint(), r"^hbmview: .*/run1/h\.xplane\.pb: ")
            self.add("run2", "v5e_matmul")
            self.assertIn("  run2 / ", watch.line())
            self.assertEqual(watch.end(), 0)
            self.assertIsNone(watch.complaint())

    def test_a_dump_and_memory_profiles(self):
        module = sorted((FIXTURES / "xla_dump").rglob("*v5e_padded*/*after_optimizations.hlo.pb*"))[0]
        profile = sorted((FIXTURES / "device_memory").rglob("*.prof*"))[0]
        with Watch(self.root, "--format=json") as watch:
            watch.begun()
            shutil.copyfile(module, self.root / module.name)
            line = json.loads(watch.line())
            self.assertEqual((line["kind"], line["memory_space"]), ("program", "HBM"))
            shutil.copyfile(profile, self.root / "memory.prof")
            line = json.loads(watch.line())
            self.assertEqual((line["kind"], line["file"]), ("device_memory", "memory.prof"))
            self.assertGreater(line["peak_bytes"], 0)

    def test_a_thousand_files(self):
        module = sorted((FIXTURES / "xla_dump").rglob("*v5e_matmul*/*after_optimizations.hlo.pb*"))[0]
        ending = ".hlo.pb" + (".gz" if module.name.endswith(".gz") else "")
        with Watch(self.root, "--format=json") as watch:
            watch.begun()
            for number in range(1000):
                shutil.copyfile(module, self.root / f"module_{number:04}.jit_f.cl_1.after_optimizations{ending}")
            names = {json.loads(watch.line())["name"] for _ in range(1000)}
            self.assertEqual(len(names), 1000)
            self.assertEqual(watch.end(), 0)
            self.assertIsNone(watch.line())

    def test_a_folder_that_comes_later(self):
        self.root.rmdir()
        with Watch(self.root) as watch:
            self.assertIn("waiting for it", watch.complaint())
            self.root.mkdir()
            self.add("run1", "v5e_matmul")
            self.assertIn("  run1 / ", watch.line())

    def test_a_reader_that_goes_is_the_end(self):
        self.add("run1", "v5e_matmul")
        done = subprocess.run(["sh", "-c", f'"{program()}" watch --once "$1" | true; echo $?', "sh", self.root],
                              capture_output=True, text=True, timeout=HEARD_SECONDS, check=True)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))


class Once(Folder):
    def test_figures_are_those_of_the_report(self):
        for fixture in ("v5e_matmul", "v5e_padded", "v5e_gpt_12layer_oom"):
            self.add(fixture, fixture)
        told = [json.loads(line) for line in hbmview("watch", "--once", "--format=json", self.root).out.splitlines()]
        report = hbmview("report", self.root, "--format=json").json()
        peaks = {(module["session"], module["module"], space["name"]):
                 (space["peak_bytes"], space["total_allocation_bytes"])
                 for module in report["modules"] for space in module["memory_spaces"]}
        self.assertEqual(len(told), 3)
        for line in told:
            found = peaks[line["session"], line["name"], line["memory_space"]]
            self.assertEqual((line["peak_bytes"], line["total_allocation_bytes"]), found)
            self.assertEqual(line["time"], "2023-11-14T22:13:20Z")

    def test_memory_over_time(self):
        told = [json.loads(line)
                for line in hbmview("watch", "--once", "--format=json", PROFILES / "tf_leak").out.splitlines()]
        report = hbmview("report", PROFILES / "tf_leak", "--tool=memory_profile", "--format=json").json()
        text = json.dumps(report)
        memories = [line for line in told if line["kind"] == "memory"]
        self.assertGreater(len(memories), 0)
        for line in memories:
            self.assertIn(f'"memory_id": "{line["name"]}"', text)
            self.assertIn(f": {line['peak_bytes']}", text)

    def test_arrays_that_python_held(self):
        profile = FIXTURES / "device_memory" / "two_devices.memory.prof"
        expected = sum(json.loads(profile.with_name("two_devices.expected.json").read_text()).values())
        [line] = hbmview("watch", "--once", "--format=json", profile).out.splitlines()
        told = json.loads(line)
        self.assertEqual((told["kind"], told["file"], told["peak_bytes"]), ("device_memory", profile.name, expected))
        self.assertIn("5.31 MiB", hbmview("watch", "--once", profile).out)
        self.assertEqual(hbmview("watch", "--once", f"--fail-over={expected - 1}", profile).code, 1)
        self.assertEqual(hbmview("watch", "--once", f"--fail-over={expected}", profile).code, 0)

    def test_the_limit(self):
        path = self.add("run1", "v5e_gpt_12layer_oom")
        for limit, code in (("v5e", 1), ("52.8GiB", 1), ("53GiB", 0)):
            done = hbmview("watch", "--once", "--fail-over", limit, path)
            self.assertEqual((done.code, "ABOVE" in done.out), (code, code == 1), done)

    def test_the_limit_ends_a_watch(self):
        with Watch(self.root, "--fail-over=16GiB", "--capacity=v5e") as watch:
            watch.begun()
            self.add("run1", "v5e_gpt_12layer_oom")
            self.assertRegex(watch.line(), r"of 15\.75 GiB \(336%\).*; ABOVE 16\.00 GiB$")
            self.assertEqual(watch.process.wait(HEARD_SECONDS), 1)

    def test_so_many_seconds(self):
        self.assertEqual(hbmview("watch", "--for=0", self.root).code, 0)
        self.assertEqual(hbmview("watch", "--for=1", self.root).code, 0)

    def test_what_cannot_be_read(self):
        self.assertEqual(hbmview("watch", "--once", self.root / "nowhere").code, 3)
        path = self.root / "h.xplane.pb"
        path.write_bytes(b"\xff" * 64)
        done = hbmview("watch", "--once", self.root)
        self.assertEqual((done.code, done.out), (3, ""))
        self.assertEqual(len(done.errors.splitlines()), 1, done)

    def test_a_full_disk_is_3_with_the_reason(self):
        self.add("run1", "v5e_matmul")
        with open("/dev/full", "wb") as full:
            done = hbmview("watch", "--once", self.root, stdout=full)
        self.assertEqual(done.code, 3)
        self.assertRegex(done.errors, r"\Ahbmview: The lines could not be written: .+\.\n\Z")

    def test_usage(self):
        self.assertEqual(hbmview("watch").code, 2)
        self.assertEqual(hbmview("watch", "--once", "--for=3", self.root).code, 2)
        self.assertEqual(hbmview("watch", "--format=csv", self.root).code, 2)
        shown = hbmview("watch", "--help")
        self.assertEqual(shown.code, 0)
        self.assertTrue(re.search(r"Exit codes: .*2 wrong usage", shown.out, re.S), shown)
        self.assertIn("hbmview watch PATH", hbmview("--help").out)
