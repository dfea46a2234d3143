"""What scripts/test makes beside its first stages: by whom it is asked for, and that it is made once."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
PREPARING = ("scripts/install-bucket-servers", "scripts/test-venv", "scripts/packaging/build-static-libraries")
GO = """#!/bin/sh
[ "$1" = env ] && { echo go1.26.8; exit; }
for last; do :; done
name=${last##*/}
echo "$name" >>"$BUILT"
sleep 0.5  # so that who does not wait is seen to build as well
mkdir -p "$GOBIN" && touch "$GOBIN/${name%@*}"
"""


def program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class SettingUp(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "scripts").mkdir()

    def asked_for(self, *stages, **environment):
        """What is made for these stages, in order, by programs that only say their names."""
        shutil.copy(REPO / "scripts" / "test", self.root / "scripts")
        for name in PREPARING:
            program(self.root / name, '#!/bin/sh\necho "${0##*/}" "$@"\n')
        kept = {key: value for key, value in os.environ.items() if key != "CI"}
        done = subprocess.run([self.root / "scripts" / "test", "--prepare", *stages], env={**kept, **environment},
                              text=True, stdout=subprocess.PIPE, check=False)
        return done.stdout.splitlines()

    def test_the_ordinary_stages_ask_for_the_object_stores_alone(self):
        self.assertEqual(self.asked_for(), ["install-bucket-servers"])

    def test_a_stage_that_is_named_asks_for_what_it_needs(self):
        self.assertEqual(self.asked_for("unit", "golden"), [])
        self.assertEqual(self.asked_for("http"), ["install-bucket-servers"])
        self.assertEqual(self.asked_for("static", "proxy"), ["test-venv proxy", "build-static-libraries x86_64"])

    def test_ci_asks_for_all_of_it_the_object_stores_first(self):
        all_of_it = self.asked_for(CI="true")
        self.assertEqual(all_of_it[0], "install-bucket-servers")
        for needed in ("test-venv fit", "test-venv fleet", "build-static-libraries x86_64",
                       "build-static-libraries aarch64"):
            self.assertIn(needed, all_of_it)

    def test_who_asks_while_the_object_stores_are_built_waits_for_them(self):
        script = self.root / "scripts" / "install-bucket-servers"
        shutil.copy(REPO / "scripts" / "install-bucket-servers", script)
        program(self.root / "bin" / "go", GO)
        environment = {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}", "BUILT": f"{self.root}/built"}
        asking = [subprocess.Popen([script, "--print", name], env=environment, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL) for name in ("versitygw", "fake-gcs-server")]
        for one in asking:
            printed, _ = one.communicate()
            self.assertEqual(one.returncode, 0)
            self.assertTrue(pathlib.Path(printed.strip()).is_file(), printed)
        built = sorted((self.root / "built").read_text().split())
        self.assertEqual([name.partition("@")[0] for name in built], ["fake-gcs-server", "versitygw"])


if __name__ == "__main__":
    unittest.main()
