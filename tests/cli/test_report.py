"""`hbmview report` as a user and a script see it: paths, formats, filters, widths, exit codes, broken inputs."""
import contextlib
import csv
import gzip
import io
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile
import unittest

from hbmview_command import FIXTURES, PROFILES, REPO, environment, hbmview, program

LOGDIR = FIXTURES / "logdir"
OOM = PROFILES / "v5e_gpt_12layer_oom"
MATMUL = PROFILES / "v5e_matmul"
BUFFER_KEYS = ["logical_buffer_id", "name", "opcode", "size_bytes", "unpadded_bytes", "shape", "category", "op_name",
               "source", "start_step", "end_step"]
SPACE_KEYS = ["space", "name", "peak_bytes", "peak_position", "total_allocation_bytes", "indefinite_bytes",
              "parameter_bytes", "output_bytes", "aliased_bytes", "constant_bytes", "thread_local_bytes",
              "temporary_bytes", "fragmentation_bytes", "padding_bytes", "buffers_at_peak"]
GOOD, USAGE, UNREADABLE = 0, 2, 3


def profile(session):
    return gzip.decompress(next((PROFILES / session).glob("*.xplane.pb.gz")).read_bytes())


class ReportTest(unittest.TestCase):
    def report(self, *arguments, code=GOOD, **how):
        done = hbmview("report", *arguments, **how)
        self.assertEqual(done.code, code, done)
        if code == GOOD:
            self.assertEqual(done.errors, "")
        return done

    def modules(self, *arguments, **how):
        return self.report(*arguments, "--format=json", **how).json()["modules"]

    def folder(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)


class Usage(ReportTest):
    def test_wrong_usage_is_2_with_one_sentence(self):
        wrong = [[], [OOM, MATMUL], [OOM, "--format=xml"], [OOM, "--memory-space=HBN"], [OOM, "--memory-space=-1"],
                 [OOM, "--top=many"], [OOM, "--top", "-1"], [OOM, "--session"], [OOM, "--modul=f"]]
        for arguments in wrong:
            with self.subTest(arguments=arguments):
                done = self.report(*arguments, code=USAGE)
                self.assertEqual(done.out, "")
                self.assertRegex(done.errors, r"\Ahbmview: .*\.\n\Z|\Ahbmview: .*\?\n\Z")

    def test_help_answers(self):
        done = self.report("--help")
        for word in ("--session", "--module", "--memory-space", "--top", "--format", "Exit codes"):
            self.assertIn(word, done.out)
        self.assertLessEqual(max(map(len, done.out.splitlines())), 80)

    def test_flags_stand_anywhere_and_in_both_forms(self):
        expected = self.report(OOM, "--format=json", "--top=3").out
        self.assertEqual(self.report("--format", "json", OOM, "--top", "3").out, expected)
        self.assertEqual(self.report("--top=3", "--format=json", OOM).out, expected)


class Paths(ReportTest):
    def test_everything_a_user_has_at_hand(self):
        plain = self.folder() / "tpu-vm-0.xplane.pb"
        plain.write_bytes(profile("v5e_matmul"))
        for path in (MATMUL, next(MATMUL.iterdir()), plain, plain.parent):
            with self.subTest(path=path):
                modules = self.modules(path)
                self.assertEqual([m["module"] for m in modules], ["jit__lambda(1)"])
                self.assertEqual(modules[0]["program_id"], 1)
                self.assertEqual(modules[0]["host"], "tpu-vm-0")
        roots = [self.report(path, "--format=json").out for path in (LOGDIR, LOGDIR / "plugins", PROFILES)]
        self.assertEqual(len(set(roots)), 1)

    def test_sessions_are_newest_first(self):
        sessions = list(dict.fromkeys(module["session"] for module in self.modules(LOGDIR)))
        self.assertEqual(sessions, sorted(sessions, reverse=True))
        self.assertGreater(len(sessions), 5)

    def test_a_session_without_programs_is_good(self):
        self.assertEqual(self.report(PROFILES / "tf_oom").out, "No compiled programs in: tf_oom.\n")
        self.assertEqual(self.report(PROFILES / "tf_oom", "--format=json").json(), {"modules": [], "errors": []})
        self.assertEqual(self.report(PROFILES / "tf_oom", "--format=csv").out.count("\n"), 1)

    def test_what_is_not_there_is_3(self):
        empty = self.folder()
        for arguments in (["no/such/folder"], [empty], [LOGDIR, "--session=nope"], [LOGDIR, "--module=nope"],
                          [LOGDIR / "../xprof_golden/index.json"]):
            with self.subTest(arguments=arguments):
                done = self.report(*arguments, code=UNREADABLE)
                self.assertRegex(done.errors, r"\Ahbmview: [^\n]+\n\Z")
                errors = self.report(*arguments, "--format=json", code=UNREADABLE).json()["errors"]
                self.assertEqual([sorted(error) for error in errors], [["code", "file", "message", "offset"]])


class Filters(ReportTest):
    def test_session_and_module(self):
        modules = self.modules(LOGDIR, "--session=h100_programs", "--module=jit_matmul(1)")
        self.assertEqual([(m["session"], m["module"]) for m in modules], [("h100_programs", "jit_matmul(1)")])
        by_name = self.modules(LOGDIR, "--module=jit_f")
        self.assertGreater(len(by_name), 1)
        self.assertEqual({m["module"].split("(")[0] for m in by_name}, {"jit_f"})

    def test_memory_space_by_name_or_number(self):
        for words in ("VMEM", "vmem", "1"):
            spaces = [space for m in self.modules(OOM, "--memory-space", words) for space in m["memory_spaces"]]
            self.assertEqual([(space["space"], space["name"]) for space in spaces], [(1, "VMEM")])
        self.assertEqual(self.modules(OOM, "--memory-space=77")[0]["memory_spaces"], [])
        self.assertIn("Nothing in Memory space 77: jit_train_step(1).", self.report(OOM, "--memory-space=77").out)

    def test_top_keeps_the_largest_and_counts_the_rest(self):
        whole = self.modules(OOM, "--memory-space=0")[0]["memory_spaces"][0]
        cut = self.modules(OOM, "--memory-space=0", "--top=7")[0]["memory_spaces"][0]
        self.assertEqual(cut["buffers_at_peak"], whole["buffers_at_peak"][:7])
        self.assertEqual(cut["buffers_at_peak_left_out"], len(whole["buffers_at_peak"]) - 7)
        self.assertEqual(self.modules(OOM, "--top=0")[0]["memory_spaces"][0]["buffers_at_peak"], [])


class Groups(ReportTest):
    WAYS = ["source", "stack", "scope", "argument", "phase", "category", "dtype", "shape", "opcode"]

    def groups(self, *arguments):
        spaces = [space for module in self.modules(*arguments) for space in module["memory_spaces"]]
        for space in spaces:
            self.assertEqual(list(space["groups"]), ["by", "step", "rows", "left_out", "left_out_bytes"])
            for row in space["groups"]["rows"]:
                self.assertEqual(list(row), ["key", "size_bytes", "padding_bytes", "buffers", "share"])
        return spaces

    def test_rows_and_the_rest_sum_to_the_peak(self):
        for way in self.WAYS:
            for space in self.groups(LOGDIR, f"--by={way}", "--top=3"):
                rows = space["groups"]["rows"]
                self.assertEqual(space["groups"]["by"], way)
                self.assertLessEqual(len(rows), 3)
                self.assertEqual(sum(row["size_bytes"] for row in rows) + space["groups"]["left_out_bytes"],
                                 space["peak_bytes"])
                self.assertEqual(rows, sorted(rows, key=lambda row: (-row["size_bytes"], row["key"].encode())))
                for row in rows:
                    self.assertAlmostEqual(row["share"], row["size_bytes"] / space["peak_bytes"])

    def test_the_line_that_holds_most(self):
        [space] = self.groups(OOM, "--memory-space=HBM", "--by=source")
        largest = space["groups"]["rows"][0]
        self.assertEqual((largest["key"], largest["size_bytes"], largest["buffers"]), ("train.py:53", 35529949184, 34))
        self.assertEqual(space["groups"]["step"], space["peak_position"])
        self.assertEqual(space["groups"]["left_out"], 0)

    def test_another_weight_sorts_and_shares_the_same_bytes(self):
        hbm = (OOM, "--memory-space=HBM")
        for weight, column in (("padding", "padding_bytes"), ("size_x_lifetime", "size_x_lifetime")):
            [space] = self.modules(*hbm, f"--weight={weight}", "--top=3")[0]["memory_spaces"]
            groups = space["groups"]
            self.assertEqual((groups["by"], groups["weight"]), ("source", weight))
            weights = [row[column] for row in groups["rows"]]
            self.assertEqual(weights, sorted(weights, reverse=True))
            self.assertEqual(sum(row["size_bytes"] for row in groups["rows"]) + groups["left_out_bytes"],
                             space["peak_bytes"])
        names = self.report(*hbm, "--format=csv", "--weight=size_x_lifetime").out.splitlines()[0]
        self.assertTrue(names.endswith(",buffers,size_x_lifetime"), names)
        self.assertIn("shares of the padding", self.report(*hbm, "--weight=padding").out)
        self.assertIn("size_x_lifetime", self.report(OOM, "--weight=weight", code=USAGE).errors)

    def test_at_another_step(self):
        [space] = self.groups(OOM, "--memory-space=HBM", "--step=0")
        self.assertEqual((space["groups"]["by"], space["groups"]["step"]), ("source", 0))
        self.assertLess(sum(row["size_bytes"] for row in space["groups"]["rows"]), space["peak_bytes"] / 20)
        self.assertIn("Who holds it at step 100 (", self.report(OOM, "--step=100", columns=100).out)

    def test_a_step_that_is_not_there_is_3(self):
        done = self.report(OOM, "--memory-space=HBM", "--step=99999", "--format=json", code=UNREADABLE)
        self.assertIn("has no step 99999; the last is 1025", done.json()["errors"][0]["message"])
        self.assertIsNone(done.json()["modules"][0]["memory_spaces"][0]["groups"])
        self.assertEqual(self.report(OOM, "--by=colour", code=USAGE).out, "")
        self.assertEqual(self.report(OOM, "--tool=memory_profile", "--by=source", code=USAGE).out, "")

    def test_csv_has_one_row_for_each_group(self):
        rows = list(csv.DictReader(io.StringIO(self.report(OOM, "--format=csv", "--by=phase", "--top=2").out)))
        hbm = [row for row in rows if row["memory_space"] == "0"]
        self.assertEqual([row["key"] for row in hbm], ["saved for backward", "backward", "(left out)"])
        self.assertEqual(sum(int(row["size_bytes"]) for row in hbm), 56802019840)
        self.assertEqual({(row["by"], row["step"]) for row in hbm}, {("phase", "347")})

    def test_markdown_and_text_say_how_they_name(self):
        text = self.report(LOGDIR, "--session=h100_programs", "--module=jit_matmul", "--by=source").out
        self.assertIn("Who holds it at the peak, by operation:", text)
        self.assertIn("so operations stand for it", text)
        self.assertIn("| train.py:53 |", self.report(OOM, "--by=source", "--format=markdown").out)


class Json(ReportTest):
    def test_keys(self):
        document = self.report(LOGDIR, "--format=json").json()
        self.assertEqual(list(document), ["modules", "errors"])
        for module in document["modules"]:
            self.assertEqual(list(module), ["session", "host", "module", "program_id", "memory_spaces"])
            self.assertTrue(module["module"].endswith(f"({module['program_id']})"))
            for space in module["memory_spaces"]:
                self.assertEqual(list(space)[:len(SPACE_KEYS)], SPACE_KEYS)
                self.assertEqual(list(space)[len(SPACE_KEYS):], ["buffers_at_peak_left_out", "notes"])
                for buffer in space["buffers_at_peak"]:
                    self.assertEqual(list(buffer), BUFFER_KEYS)

    def test_a_program_of_several_hosts_is_listed_once(self):
        folder = self.folder()
        for host, session in (("a", "v5e_matmul"), ("b", "v5e_matmul"), ("c", "v5e_padded")):
            (folder / f"{host}.xplane.pb").write_bytes(profile(session))
        modules = self.modules(folder)
        self.assertEqual([(m["module"], m["host"], m.get("hosts")) for m in modules],
                         [("jit__lambda(1)", "a", ["a", "b"]), ("jit_f(1)", "c", None)])
        self.assertRegex(self.report(folder).out, r"(?m)^HOST +MODULE.*\nc +jit_f.*\na \+1 +jit__lambda")


class Csv(ReportTest):
    def test_one_row_for_each_buffer_at_a_peak(self):
        rows = list(csv.DictReader(io.StringIO(self.report(LOGDIR, "--format=csv").out)))
        expected = [(m["session"], m["host"], m["module"], str(m["program_id"]), str(space["space"]), space["name"],
                     *(str(buffer[key]) for key in BUFFER_KEYS))
                    for m in self.modules(LOGDIR) for space in m["memory_spaces"]
                    for buffer in space["buffers_at_peak"]]
        keys = ["session", "host", "module", "program_id", "memory_space", "memory_space_name", *BUFFER_KEYS]
        self.assertEqual([tuple(row[key] for key in keys) for row in rows], expected)
        self.assertGreater(len(rows), 1000)

    def test_names_are_quoted(self):
        folder = self.folder() / 'runs, "new"\nones'
        folder.mkdir()
        shutil.copy(next(MATMUL.iterdir()), folder)
        text = self.report(folder, "--format=csv").out
        self.assertIn('"runs, ""new""', text)
        self.assertTrue(all(row["host"] == "tpu-vm-0" for row in csv.DictReader(io.StringIO(text))))


class Text(ReportTest):
    def test_it_fits_80_columns(self):
        for arguments in ([LOGDIR], [OOM], [OOM, "--memory-space=vmem", "--top=1000"]):
            lines = self.report(*arguments).out.splitlines()
            self.assertLessEqual(max(map(len, lines)), 80)
            self.assertFalse([line for line in lines if line != line.rstrip()])

    def test_numbers_are_never_shortened(self):
        narrow, wide = (self.report(LOGDIR, columns=columns).out for columns in (60, 200))
        self.assertIn("…", narrow)
        self.assertNotIn("…", wide.split("\n\n")[0])
        self.assertRegex(narrow, r"HBM +52\.90 GiB +52\.93 GiB\n")

    def test_the_biggest_module_is_taken_apart(self):
        text = self.report(OOM).out
        for part in (r"^v5e_gpt_12layer_oom / jit_train_step\(1\), HBM$", r"^Peak 52\.90 GiB at step 347 of 1026 ",
                     r"^donated +1\.81 GiB +3\.4%$", r"^The largest 26 of 391 buffers", r"^ +6\.14 GiB|^6\.14 GiB",
                     r"^11 x 3\.00 GiB ", r"^ 33\.09 GiB  62\.6%       34  23\.00 MiB  train\.py:53$",
                     r"11 more hold 835\.81 MiB", r"/train\.py:69$", r"^- Thread-local allocations"):
            self.assertRegex(text, "(?m)" + part)
        self.assertIn("The biggest: v5e_readme_oom / jit_oom(1), HBM", self.report(LOGDIR).out)

    def test_a_terminal_gets_the_curve(self):
        leader, follower = pty.openpty()
        with subprocess.Popen([program(), "report", OOM], cwd=REPO, env=environment(COLUMNS="80"), stdout=follower):
            os.close(follower)
            text = b""
            with contextlib.suppress(OSError):  # how a terminal ends
                while piece := os.read(leader, 1 << 16):
                    text += piece
        os.close(leader)
        lines = text.decode().replace("\r", "").split("\n")
        [mark] = [i for i, line in enumerate(lines) if "\u25bc" in line]
        self.assertIn("52.90 GiB", lines[mark])
        self.assertEqual(lines[mark - 1], "")
        column = lines[mark].index("\u25bc")
        self.assertEqual([line[column] for line in lines[mark + 1:mark + 7]], ["\u2588"] * 6)
        self.assertTrue(lines[mark + 6].startswith("      0 B"))
        self.assertLessEqual(max(map(len, lines)), 80)
        self.assertNotIn("\u25bc", self.report(OOM).out)

    def test_markdown_is_tables(self):
        text = self.report(OOM, "--format=markdown").out
        self.assertIn("| jit_train_step(1) | HBM | 52.90 GiB | 52.93 GiB |", text)
        for table in (part for part in text.split("\n\n") if part.startswith("|")):
            bars = {line.replace("\\|", "").count("|") for line in table.strip().splitlines()}
            self.assertEqual(len(bars), 1, table)

    def test_markdown_escapes_bars(self):
        folder = self.folder() / "a|b"
        folder.mkdir()
        for host in ("x", "y"):
            (folder / f"{host}.xplane.pb").write_bytes(profile("v5e_matmul" if host == "x" else "v5e_padded"))
        self.assertIn("### The biggest: a\\|b / ", self.report(folder, "--format=markdown").out)

    def test_names_cannot_drive_the_terminal(self):
        folder = self.folder() / "\x1b[31mred\x07"
        folder.mkdir()
        (folder / "a.xplane.pb").write_bytes(profile("v5e_matmul"))
        (folder / "b.xplane.pb").write_bytes(b"\x0a\x7fbroken")
        done = self.report(folder, code=UNREADABLE)
        self.assertNotRegex(done.out + done.errors, "[\x00-\x09\x0b-\x1f\x7f]")


class Broken(ReportTest):
    def setUp(self):
        self.root = self.folder()
        (self.root / "whole.xplane.pb").write_bytes(profile("v5e_matmul"))
        self.cut = self.root / "cut.xplane.pb"
        self.cut.write_bytes(profile("v5e_gpt_4layer")[:1000000])

    def check(self):
        for form in ("text", "json", "csv", "markdown"):
            done = self.report(self.root, "--format", form, code=UNREADABLE)
            self.assertIn("jit__lambda(1)", done.out)
            self.assertRegex(done.errors, rf"\Ahbmview: {self.cut}: .* \(at byte \d+\)\n\Z")
        error, = self.report(self.root, "--format=json", code=UNREADABLE).json()["errors"]
        self.assertEqual((error["code"], error["file"]), ("truncated", str(self.cut)))

    def test_the_other_hosts_are_reported(self):
        os.utime(self.cut, (1, 1))
        self.check()

    def test_also_while_it_may_still_be_written(self):
        self.check()

    def test_damaged_programs_are_named(self):
        whole = profile("v5e_matmul")
        self.cut.unlink()
        for place in range(200, len(whole), 9973):
            damaged = bytearray(whole)
            damaged[place:place + 8] = b"\xff" * 8
            (self.root / "damaged.xplane.pb").write_bytes(damaged)
            done = hbmview("report", self.root, "--format=json")
            self.assertIn(done.code, (GOOD, UNREADABLE), done)
            self.assertEqual(done.code == UNREADABLE, bool(done.json()["errors"]), done)
            self.assertIn("jit__lambda(1)", [m["module"] for m in done.json()["modules"]])


class Output(ReportTest):
    def test_a_full_disk_is_3_with_a_sentence(self):
        with open("/dev/full", "wb") as full:
            for form in ("text", "json"):
                done = self.report(LOGDIR, "--format", form, code=UNREADABLE, stdout=full)
                self.assertRegex(done.errors, r"\Ahbmview: The report could not be written: .*\n\Z")

    def test_no_output_at_all_is_3_as_well(self):
        done = subprocess.run(["sh", "-c", 'exec "$0" report "$1" >&-', program(), LOGDIR], env=environment(),
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, UNREADABLE)
        self.assertRegex(done.stderr.decode(), r"\Ahbmview: The report could not be written: .*\n\Z")

    def test_a_reader_that_leaves_is_no_error(self):
        command = [program(), "report", str(LOGDIR), "--format=json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()) as process:
            process.stdout.read(10)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.returncode, GOOD)


if __name__ == "__main__":
    unittest.main()
