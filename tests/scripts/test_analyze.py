"""scripts/analyze with another compiler than its answers are to: said so, and in CI a failure."""
import os
import pathlib
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]


class OtherCompiler(unittest.TestCase):
    def analyze(self, **environment):
        plain = {key: value for key, value in os.environ.items() if key != "CI"}
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder, "gcc")
            compiler.write_text("#!/bin/sh\necho 99.1.0\n")
            compiler.chmod(0o755)
            return subprocess.run([REPO / "scripts" / "analyze", "a.c", "--", compiler], text=True, check=False,
                                  env={**plain, **environment}, stdout=subprocess.PIPE)

    def test_elsewhere_nothing_is_analyzed(self):
        done = self.analyze()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("Not analyzed", done.stdout)

    def test_in_ci_it_fails_and_says_what_to_install(self):
        done = self.analyze(CI="true")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("Install gcc-12", done.stdout)


if __name__ == "__main__":
    unittest.main()
