"""`hbmview diff`: a training step as it is, rematerialized and without donation (fixtures/compare), and every pair of
a few real programs. `hbmview report --fail-over` for one program."""
import itertools
import json
import pathlib
import shutil
import tempfile
import unittest

from hbmview_command import CORPUS, FIXTURES, PROFILES, hbmview

COMPARE = FIXTURES / "compare"
PLAIN, REMAT, NOT_DONATED = (COMPARE / f"{name}.hlo.pb.gz" for name in ("plain", "rematerialized", "not_donated"))
WAYS = ["source", "stack", "scope", "argument", "phase", "category", "dtype", "shape", "opcode"]
MIB = 1 << 20
GOOD, FAILED, USAGE, UNREADABLE = 0, 1, 2, 3


def diff(a, b, *arguments, code=GOOD):
    done = hbmview("diff", a, b, *arguments)
    assert done.code == code, done
    return done


def document(a, b, *arguments, code=GOOD):
    return diff(a, b, "--format=json", *arguments, code=code).json()


def total(rows, name="delta_bytes"):
    return sum(row[name] for row in rows)


class Sums(unittest.TestCase):
    def check(self, found):
        peak = found["b"]["peak_bytes"] - found["a"]["peak_bytes"]
        whole = found["b"]["total_allocation_bytes"] - found["a"]["total_allocation_bytes"]
        self.assertEqual((found["peak_delta_bytes"], found["total_delta_bytes"]), (peak, whole))
        for part in (found["groups"], found["buffers"]):
            self.assertEqual(total(part["rows"]) + part["left_out_delta_bytes"], peak)
        self.assertEqual(total(found["categories"]["rows"]), whole)
        self.assertEqual(peak + found["fragmentation_delta_bytes"], whole)
        for row in found["groups"]["rows"]:
            self.assertEqual(row["delta_bytes"], row["b_bytes"] - row["a_bytes"])
        for row in found["buffers"]["rows"]:
            a, b = (side["size_bytes"] if side else 0 for side in (row["a"], row["b"]))
            self.assertEqual(row["delta_bytes"], b - a)
            paired = "grown" if b > a else "shrunk" if b < a else "renamed"
            self.assertEqual(row["change"], "gained" if not row["a"] else "lost" if not row["b"] else paired)

    def test_every_way_to_group(self):
        for by, top in itertools.product(WAYS, ([], ["--top=0"], ["--top=3"])):
            with self.subTest(by=by, top=top):
                found = document(PLAIN, REMAT, f"--by={by}", *top)
                self.assertEqual(found["groups"]["by"], by)
                self.check(found)
                if top == ["--top=3"]:
                    self.assertEqual(len(found["buffers"]["rows"]), 3)

    def test_pairs_of_programs_that_have_nothing_to_do_with_each_other(self):
        names = ["v5e_gpt_4layer", "v5e_gpt_12layer_oom", "v5e_gpt_scan", "v5e_matmul", "v5e_padded"]
        for a, b in itertools.permutations(names, 2):
            with self.subTest(a=a, b=b):
                self.check(document(PROFILES / a, PROFILES / b))

    def test_a_program_against_itself_has_no_change(self):
        found = document(PLAIN, PLAIN)
        self.assertEqual((found["peak_delta_bytes"], found["groups"]["rows"], found["buffers"]["rows"]), (0, [], []))
        self.assertEqual(found["groups"]["unchanged_bytes"], found["a"]["peak_bytes"])
        text = diff(PLAIN, PLAIN).out
        self.assertIn("as before", text)
        self.assertIn("By line nothing changed", text)

    def test_the_other_way_round_is_the_negative(self):
        there, back = document(PLAIN, REMAT), document(REMAT, PLAIN)
        self.assertEqual(there["peak_delta_bytes"], -back["peak_delta_bytes"])
        deltas = sorted(row["delta_bytes"] for row in there["groups"]["rows"])
        self.assertEqual(deltas, sorted(-row["delta_bytes"] for row in back["groups"]["rows"]))


class Answers(unittest.TestCase):
    def test_rematerialization_by_line(self):
        found = document(PLAIN, REMAT)
        self.assertLess(found["peak_delta_bytes"], 0)
        first = found["groups"]["rows"][0]
        self.assertRegex(first["key"], r"^compare_programs\.py:\d+$")
        self.assertLess(first["delta_bytes"], found["peak_delta_bytes"] / 3)  # one line saves a third of it at least
        lost = [row for row in found["buffers"]["rows"] if row["change"] == "lost"]
        self.assertTrue(any(row["a"]["source"] == first["a_key"] for row in lost))

    def test_donated_outputs_became_aliases(self):
        found = document(NOT_DONATED, PLAIN)
        categories = {row["key"]: row for row in found["categories"]["rows"]}
        [finding] = found["findings"]
        self.assertEqual(finding["kind"], "outputs_became_aliases")
        self.assertEqual(finding["bytes"], -total(row for row in found["buffers"]["rows"] if row["is_alias"]))
        self.assertEqual(finding["bytes"], -categories["output"]["delta_bytes"])
        self.assertEqual(categories["donated"]["b_bytes"], -categories["parameter"]["delta_bytes"])
        self.assertIn(f"{finding['buffers']} outputs of", diff(NOT_DONATED, PLAIN).out)
        [back] = document(PLAIN, NOT_DONATED)["findings"]
        self.assertEqual((back["kind"], back["bytes"]), ("aliases_became_outputs", finding["bytes"]))

    def test_text_says_the_verdict_first(self):
        found, lines = document(PLAIN, REMAT), diff(PLAIN, REMAT).out.splitlines()
        self.assertIn("->", lines[0])
        self.assertRegex(lines[2], r"^Peak [\d.]+ MiB -> [\d.]+ MiB: -[\d.]+ MiB \(-[\d.]+%\)\.")
        self.assertIn(found["groups"]["rows"][0]["key"], "\n".join(lines))
        self.assertTrue(all(len(line) <= 80 for line in lines))

    def test_markdown_has_the_same_tables(self):
        text = diff(PLAIN, REMAT, "--format=markdown").out
        self.assertTrue(text.startswith("### "))
        self.assertIn("| Change | Before | After | Buffers | Held by |", text)

    @unittest.skipUnless(CORPUS.exists(), "the corpus is not here")
    def test_the_corpus(self):
        sessions = CORPUS / "logdir" / "plugins" / "profile"
        found = document(sessions / "v5e_gpt_12layer", sessions / "v5e_gpt_12layer_remat")
        self.assertEqual(round(found["total_delta_bytes"] / (1 << 30), 1), -5.8)
        self.assertEqual(found["groups"]["rows"][0]["key"], "train.py:53")
        [finding] = document(sessions / "v5e_gpt_12layer_nodonate", sessions / "v5e_gpt_12layer")["findings"]
        self.assertEqual(round(finding["bytes"] / MIB, 1), 1855.8)


class Limits(unittest.TestCase):
    def test_exit_codes_of_fail_above(self):
        grown = document(REMAT, PLAIN)
        for figure in ("peak", "total"):
            delta = grown[f"{figure}_delta_bytes"]
            self.assertGreater(delta, 0)
            for format in ("text", "json", "markdown"):
                diff(REMAT, PLAIN, f"--format={format}", f"--of={figure}", f"--fail-above={delta}")
                limit = f"--fail-above={delta - 1}"
                done = diff(REMAT, PLAIN, f"--format={format}", f"--of={figure}", limit, code=FAILED)
                self.assertIn(f"the {figure} grew by", done.errors)
        self.assertIn("OVER THE LIMIT", diff(REMAT, PLAIN, "--fail-above=1B", code=FAILED).out)
        diff(PLAIN, REMAT, "--fail-above=1B")

    def test_wrong_usage(self):
        both = [PLAIN, REMAT]
        for arguments in ([], [PLAIN], [*both, PLAIN], [*both, "--by=colour"], [*both, "--of=mean"],
                          [*both, "--format=csv"], [*both, "--fail-above=much"]):
            done = hbmview("diff", *arguments)
            self.assertEqual((done.code, done.out), (USAGE, ""), done)
            self.assertEqual(done.errors.count("\n"), 1)
        self.assertIn("--fail-above", hbmview("diff", "--help").out)

    def test_what_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = f"{folder}/cut.hlo.pb"
            with open(cut, "wb") as file:
                file.write(b"\x0a\xff\xff\x03cut")
            for a, b in ((cut, PLAIN), (PLAIN, cut), (folder + "/none", PLAIN), (PLAIN, folder + "/none")):
                done = diff(a, b, code=UNREADABLE)
                self.assertIn("hbmview: ", done.errors)
                self.assertEqual(done.out, "")
        self.assertIn('no module "jit_g"', diff(PLAIN, REMAT, "--module=jit_g", code=UNREADABLE).errors)

    def test_which_program_is_meant(self):
        several = PROFILES / "h100_programs"
        done = diff(several, several, "--format=json")
        names = [done.json()[side]["module"] for side in "ab"]
        self.assertEqual(names[0], names[1])
        self.assertIn(names[0], done.errors)
        found = document(several, several, "--module=jit_gpt_large(4117)")
        self.assertEqual(found["a"]["module"], "jit_gpt_large(4117)")
        done = diff(FIXTURES / "logdir", PLAIN, code=USAGE)
        self.assertIn("several sessions", done.errors)
        found = document(FIXTURES / "logdir", FIXTURES / "logdir", "--session=v5e_matmul", "--session-b=v5e_padded")
        self.assertEqual([found[side]["session"] for side in "ab"], ["v5e_matmul", "v5e_padded"])

    def test_one_side_may_be_in_another_kind_of_file(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(PROFILES / "v5e_matmul" / "tpu-vm-0.xplane.pb.gz", folder)
            self.assertEqual(document(folder, PROFILES / "v5e_matmul")["peak_delta_bytes"], 0)


DENSE, PRINTS = (FIXTURES / "advice" / f"{name}.hlo.pb.gz" for name in ("dense", "debug_print"))
SMALL = FIXTURES / "xla_dump" / "v5e_padded" / "module_0005.jit_f.cl_987654321.after_optimizations.hlo.pb.gz"


class SeveralPrograms(unittest.TestCase):
    """Folders of several programs, by what is compared and what the others are told of."""

    def compare(self, before, after, *arguments, code=GOOD):
        with tempfile.TemporaryDirectory() as folder:
            sides = [pathlib.Path(folder) / name for name in ("before", "after")]
            for side, files in zip(sides, (before, after)):
                side.mkdir()
                for file in files:
                    shutil.copy(file, side / f"{file.name.split('.')[0]}.hlo.pb.gz")
            return document(*sides, *arguments, code=code), diff(*sides, *arguments, code=code)

    def modules(self, found):
        return [found[side]["module"] for side in "ab"]

    def test_by_name_and_the_others_a_row_each(self):
        found, told = self.compare([PLAIN, DENSE], [REMAT, DENSE])
        self.assertEqual(self.modules(found), ["jit_step", "jit_step"])
        self.assertEqual(found["peak_delta_bytes"], 0)
        [row] = found["other_programs"]["rows"]
        alone = document(PLAIN, REMAT)
        for side in "ab":
            self.assertEqual(row[side], {key: alone[side][key] for key in row[side]})
        for figure in ("peak_delta_bytes", "total_delta_bytes"):
            self.assertEqual(row[figure], alone[figure])
        self.assertRegex(told.out, r"-128\.00 MiB +510\.10 MiB +382\.10 MiB +jit_train_step")
        self.assertIn("jit_step is compared", told.errors)

    def test_by_name_although_another_is_larger(self):
        found, told = self.compare([PLAIN], [REMAT, DENSE])
        self.assertEqual(self.modules(found), ["jit_train_step"] * 2)
        [row] = found["other_programs"]["rows"]
        self.assertEqual((row["a"], row["b"]["module"]), (None, "jit_step"))
        self.assertEqual(row["peak_delta_bytes"], row["b"]["peak_bytes"])
        self.assertIn("jit_step (new)", told.out)

    def test_of_one_name_the_largest_with_the_largest(self):
        found, _ = self.compare([PLAIN, PRINTS], [PRINTS, REMAT])
        self.assertEqual(found["a"]["peak_bytes"], document(PRINTS, PRINTS)["a"]["peak_bytes"])
        self.assertEqual(found["peak_delta_bytes"], 0)
        [row] = found["other_programs"]["rows"]
        self.assertEqual(row["peak_delta_bytes"], document(PLAIN, REMAT)["peak_delta_bytes"])

    def test_the_largest_of_both_may_have_another_name(self):
        found, told = self.compare([PLAIN, SMALL], [DENSE, SMALL])
        self.assertEqual(self.modules(found), ["jit_train_step", "jit_step"])
        self.assertEqual([row["peak_delta_bytes"] for row in found["other_programs"]["rows"]], [0])
        self.assertIn("1 take", told.out)

    def test_the_limit_is_about_what_is_compared(self):
        found, told = self.compare([REMAT, DENSE], [PLAIN, DENSE], "--fail-above=1MiB")
        self.assertEqual(found["peak_delta_bytes"], 0)
        self.assertIn('grew by more than the limit', told.out)
        self.compare([REMAT, DENSE], [PLAIN, DENSE], "--fail-above=1MiB", "--module=jit_train_step", code=FAILED)

    def test_top_leaves_out_and_says_so(self):
        found, told = self.compare([PLAIN, DENSE, SMALL], [DENSE], "--top=1")
        self.assertEqual((len(found["other_programs"]["rows"]), found["other_programs"]["left_out"]), (1, 1))
        self.assertIn("1 more changed", told.out)


class ReportFailOver(unittest.TestCase):
    def test_one_program(self):
        [program] = hbmview("report", PLAIN, "--format=json").json()["modules"]
        space = next(space for space in program["memory_spaces"] if space["space"] == 0)
        for figure, bytes_ in (("peak", space["peak_bytes"]), ("total", space["total_allocation_bytes"])):
            for format in ("text", "json", "csv", "markdown"):
                within = hbmview("report", PLAIN, f"--format={format}", f"--of={figure}", f"--fail-over={bytes_}")
                self.assertEqual((within.code, within.errors), (GOOD, ""))
                over = hbmview("report", PLAIN, f"--format={format}", f"--of={figure}", f"--fail-over={bytes_ - 1}")
                self.assertEqual((over.code, over.out), (FAILED, within.out))
                self.assertIn(f"the {figure} in HBM", over.errors)

    def test_what_cannot_be_read_is_said_once(self):
        done = hbmview("report", PLAIN, "--module=none", "--fail-over=1G")
        self.assertEqual(done.code, UNREADABLE)
        self.assertEqual(done.errors.count("no module"), 1)


if __name__ == "__main__":
    unittest.main()
