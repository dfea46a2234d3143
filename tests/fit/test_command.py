"""python -m hbmview fit, as a CI job runs it: exit codes, JSON, where the arguments come from."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

from steps import REPO

from hbmview._fit.command import main

HERE = REPO / "tests" / "fit"


def command(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(REPO / "python")}
    environment.pop("JAX_PLATFORMS", None)
    return subprocess.Popen([sys.executable, "-m", "hbmview", "fit", *map(str, arguments)], cwd=HERE, text=True,
                            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ended(process):
    out, err = process.communicate()
    return process.returncode, out, err


def run(*arguments):
    """The command in this process, which has jax already: a second each are saved."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(HERE):
        try:
            code = main(list(map(str, arguments)))
        except SystemExit as end:
            code = end.code
    return code, out.getvalue(), err.getvalue()


class Command(unittest.TestCase):
    def test_two_at_a_time_one_fits_one_does_not(self):
        fitting = command("steps:fitting", "--topology=v5e:4x4", "--format=json")
        too_large = command("steps:too_large", "--topology", "v5e:2x2")
        code, out, err = ended(fitting)
        self.assertEqual(code, 0, err)
        result = json.loads(out)
        self.assertEqual((result["fits"], result["target"], result["name"]), (True, "v5e:4x4", "train_step"))
        self.assertEqual(sum(line["size"] for line in result["by_line"]) + result["by_line_left_out"], result["peak"])
        self.assertIn("compiling train_step for v5e:4x4 ...", err)
        code, out, err = ended(too_large)
        self.assertEqual(code, 1, err)
        self.assertIn("train_step does not fit v5e:2x2", out)
        self.assertIn("E1000", out)

    def test_limits(self):
        limit = lambda *more: run("steps:fitting", "--topology=cpu", *more)  # noqa: E731
        self.assertEqual(limit("--capacity=1GiB", "--fail-over=1GiB")[0], 0)
        self.assertEqual(limit("--capacity=1MiB")[0], 1)
        code, _, err = limit("--fail-over=1MiB", "--of=total")
        self.assertEqual(code, 1)
        self.assertIn("1.00 MiB", err)

    def test_where_arguments_come_from(self):
        for arguments, sizes in [
            (("steps:of_numbers", "--args", "f32[256,128]", "f32[128,8]"), 256 * 128 * 4 + 128 * 8 * 4),
            (("steps:of_numbers", "--args", "bf16[256,128] bf16[128,8]"), 256 * 128 * 2 + 128 * 8 * 2),
            (("steps.py:told_by_attribute",), 2 * 1024 * 1024 * 4),
        ]:
            with self.subTest(arguments=arguments):
                code, out, err = run(*arguments, "--topology=cpu", "--format=json")
                self.assertEqual(code, 0, err)
                self.assertEqual(json.loads(out)["stats"]["argument_size_in_bytes"], sizes)

    def test_donated(self):
        code, out, err = run("steps:of_numbers", "--args=f32[512,512] f32[512,512]", "--donate=0", "--topology=v5e:2x2",
                             "--format=json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["stats"]["alias_size_in_bytes"], 512 * 512 * 4)

    def test_variants(self):
        with tempfile.TemporaryDirectory() as folder:
            logdir = os.path.join(folder, "dump")
            code, out, err = run("steps:variants", "--topology=cpu", "--format=json", f"--dump={logdir}")
            self.assertEqual(code, 0, err)
            rows = json.loads(out)["variants"]
            self.assertEqual([row["name"] for row in rows], ["base", "batch/2", "broken"])
            self.assertEqual(rows[1]["lever"], "halve_batch")
            self.assertEqual(rows[1]["delta"], rows[1]["result"]["total"] - rows[0]["result"]["total"])
            self.assertEqual(sorted(os.listdir(logdir)), ["base", "batch_2"])

    def test_wrong_use(self):
        for code, said, arguments in [
            (2, "wants module:function", ("steps",)),
            (2, "steps has no nothing", ("steps:nothing",)),
            (2, "what are the arguments of steps:of_numbers", ("steps:of_numbers",)),
            (2, "--args wants arrays such as", ("steps:of_numbers", "--args", "x32[2]")),
            (2, "--donate wants positions", ("steps:fitting", "--donate=a")),
            (3, "nowhere cannot be imported", ("nowhere:step",)),
            (2, "neither a TPU topology", ("steps:fitting", "--topology=v5e")),
            (2, "unrecognized arguments", ("steps:fitting", "--capacities=1")),
        ]:
            with self.subTest(said=said):
                ended_with, out, err = run(*arguments, *([] if "--topology=v5e" in arguments else ["--topology=cpu"]))
                self.assertEqual((ended_with, out), (code, ""))
                self.assertIn(said, err)
                self.assertNotIn("Traceback", err)

    def test_help(self):
        code, out, _ = run("--help")
        self.assertEqual(code, 0)
        for word in "module:function", "--topology", "hbmview_args", "Exit codes":
            self.assertIn(word, out)


if __name__ == "__main__":
    unittest.main()
