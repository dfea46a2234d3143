"""report, explain, diff and advise: what the program answers, and what its exit codes become."""
import json
import pathlib
import pickle
import subprocess
import tempfile
import unittest
import warnings

from package import FIXTURES, PROFILES, PROGRAM, hbmview

STEP = PROFILES / "v5e_gpt_4layer"
PROFILE = next(STEP.glob("*.xplane.pb.gz"))
MESSAGE = (FIXTURES / "oom_messages" / "v5e_gpt_12layer_oom.txt").read_text()


def printed(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, check=False).stdout.decode()


class Answers(unittest.TestCase):
    def test_a_report_is_the_programs_document(self):
        report = hbmview.report(STEP, by="source", top=3)
        self.assertEqual(report, json.loads(printed("report", STEP, "--by=source", "--top=3", "--format=json")))
        self.assertEqual(len(report["modules"][0]["memory_spaces"][0]["groups"]["rows"]), 3)

    def test_options_reach_the_program(self):
        one = hbmview.report(PROFILES / "jax_cpu_mlp", module="jit_train_step", memory_space="HBM")
        self.assertEqual([m["module"] for m in one["modules"]], ["jit_train_step(16)"])
        events = hbmview.report(PROFILES / "tf_leak", tool="memory_profile", top=2)
        self.assertEqual(events["tool"], "memory_profile")

    def test_a_difference_sums_to_that_of_the_peaks(self):
        diff = hbmview.diff(STEP, PROFILES / "v5e_gpt_12layer_oom", top=4)
        groups = diff["groups"]
        told = sum(row["delta_bytes"] for row in groups["rows"]) + groups["left_out_delta_bytes"]
        self.assertEqual(told, diff["peak_delta_bytes"])

    def test_advice_has_a_plan_where_there_is_a_capacity(self):
        advice = hbmview.advise(PROFILES / "v5e_gpt_12layer_oom", capacity="v5e")
        self.assertIn("halve_batch", [row["id"] for row in advice["interventions"]])
        self.assertIn("plan", advice)

    def test_an_exception_is_explained_with_the_one_that_it_came_from(self):
        try:
            try:
                raise RuntimeError(MESSAGE)
            except RuntimeError as cause:
                raise ValueError("the step failed") from cause
        except ValueError as error:
            told = hbmview.explain(error, logdir=PROFILES / "v5e_gpt_12layer_oom")
        self.assertEqual(told["messages"][0]["needed_bytes"], 56_833_154_744)
        self.assertIsNotNone(told["messages"][0]["module"])
        self.assertEqual(hbmview.explain(MESSAGE.encode())["messages"], hbmview.explain(MESSAGE)["messages"])


class Words(unittest.TestCase):
    def test_an_answer_prints_as_the_program_does(self):
        self.assertEqual(str(hbmview.report(STEP, top=2)), printed("report", STEP, "--top=2"))
        explained = hbmview.explain(MESSAGE)
        self.assertIn("OVERFLOW by 37.18 GiB", str(explained))

    def test_a_notebook_shows_it_as_markdown(self):
        self.assertEqual(hbmview.report(STEP, top=2)._repr_markdown_(),
                         printed("report", STEP, "--top=2", "--format=markdown"))

    def test_what_is_gone_since_is_shown_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "copy.xplane.pb.gz")
            copy.write_bytes(PROFILE.read_bytes())
            report = hbmview.report(copy, top=1)
        self.assertIn('"peak_bytes": ' + str(report["modules"][0]["memory_spaces"][0]["peak_bytes"]), str(report))
        self.assertIn("cannot open it", str(report))
        with self.assertRaisesRegex(hbmview.ReadError, "cannot open it"):
            report.text()

    def test_an_answer_travels_to_another_process(self):
        report = hbmview.report(STEP, top=1)
        again = pickle.loads(pickle.dumps(report))
        self.assertEqual(again, report)
        self.assertEqual(str(again), str(report))


class Failures(unittest.TestCase):
    def test_a_path_that_is_not_there(self):
        with self.assertRaisesRegex(hbmview.ReadError, "/nonexistent: cannot open it") as raised:
            hbmview.report("/nonexistent")
        self.assertEqual(raised.exception.exit_code, 3)
        self.assertEqual(raised.exception.document["errors"][0]["code"], "not_found")
        self.assertIsInstance(raised.exception, OSError)

    def test_a_value_that_an_option_cannot_have(self):
        with self.assertRaisesRegex(hbmview.UsageError, "colour") as raised:
            hbmview.report(STEP, by="colour")
        self.assertIsInstance(raised.exception, ValueError)
        with self.assertRaisesRegex(hbmview.UsageError, "There is no flag --modul; did you mean --module"):
            hbmview.report(STEP, modul="f")

    def test_a_limit_that_is_passed(self):
        with self.assertRaises(hbmview.CheckFailed) as raised:
            hbmview.report(STEP, fail_over="1MiB")
        self.assertEqual(raised.exception.exit_code, 1)
        self.assertTrue(raised.exception.document["modules"])

    def test_text_without_a_message(self):
        with self.assertRaisesRegex(hbmview.CheckFailed, "no out-of-memory message"):
            hbmview.explain("all is well")

    def test_a_broken_file_among_good_ones_is_a_warning(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder, "a.xplane.pb.gz")).write_bytes(PROFILE.read_bytes())
            (pathlib.Path(folder, "b.xplane.pb")).write_bytes(b"\xff" * 100)
            with self.assertWarnsRegex(hbmview.ReadWarning, "b.xplane.pb") as warned:
                report = hbmview.report(folder, top=1)
            self.assertEqual(warned.filename, __file__)
            self.assertEqual(len(report["errors"]), 1)
            self.assertTrue(report["modules"])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assertIn("Not read:", str(report))

    def test_a_path_that_begins_with_a_hyphen_is_no_option(self):
        with self.assertRaisesRegex(hbmview.ReadError, "-x: cannot open it"):
            hbmview.report("-x")


if __name__ == "__main__":
    unittest.main()
