"""Profiles in real object stores: every answer and every command's output equals that of the same folder on disk."""
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from real_buckets import SCHEMES, RealBucket
from same_answers import EACH, asked_of_both, equal_part
from server_fixture import FIXTURES, INSTRUMENTED, REPO, Server, program

PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
COMMAND_SECONDS = 600  # none takes a second, but where coverage is counted beside others
REPLACED_SECONDS = 300
ODD_NAMES = ("a b", "jit_f(1)=+%", "ümläut&<x>", "~-_.!*'")


def make_folder(folder):
    """All fixtures, each kind of file that hbmview opens, and odd names."""
    shutil.copytree(FIXTURES / "logdir", folder / "run")
    shutil.copytree(FIXTURES / "xla_dump", folder / "run" / "dumps")
    shutil.copytree(FIXTURES / "compare", folder / "run" / "compare")
    shutil.copy(FIXTURES / "device_memory" / "two_devices.memory.prof", folder / "run")
    for name in ODD_NAMES:
        to = folder / "odd %2F+=(1) ä" / "plugins" / "profile" / name
        to.mkdir(parents=True)
        for file in (PROFILES / "v5e_matmul").iterdir():
            shutil.copy(file, to / file.name.replace("tpu-vm-0", name))


def run(arguments, environment):
    return subprocess.run([program(), *arguments], env=environment, cwd=REPO, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=COMMAND_SECONDS, check=False)


class Answers(unittest.TestCase):
    def compare(self, folder, prefix, bucket):
        """How many questions were answered well, all of them equally."""
        good = 0
        for question, here, there in asked_of_both(folder, prefix, bucket):
            with self.subTest(bucket.scheme, path=question.path, query=question.query):
                self.assertEqual(there, here)
            good += here[0] == 200
        return good

    def test_every_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            make_folder(pathlib.Path(folder))
            for scheme in SCHEMES:
                with RealBucket(scheme, folder) as bucket:
                    self.assertGreater(self.compare(folder, "run", bucket), 500 // EACH)
                    self.assertGreater(self.compare(folder, "odd %2F+=(1) ä", bucket), 40 // EACH)


@unittest.skipIf(INSTRUMENTED, "a command reads buckets as the server does, which all answers are asked of")
class Commands(unittest.TestCase):
    COMMANDS = (("report", "{}/run", "--format=json"), ("report", "{}/run/plugins/profile/v5e_gpt_scan"),
                ("report", "{}/run", "--format=csv"), ("report", "{}/run", "--tool=memory_profile"),
                ("report", "{}/run/plugins/profile/v5e_matmul/tpu-vm-0.xplane.pb.gz"),
                ("report", "{}/run/dumps/v5e_text_dump"), ("report", "{}/run/two_devices.memory.prof"),
                ("report", "{}/run/compare/plain.hlo.pb.gz"), ("report", "{}/odd %2F+=(1) ä"),
                ("explain", str(FIXTURES / "oom_messages" / "v5e_readme_oom.txt"), "--logdir={}/run"),
                ("advise", "{}/run/plugins/profile/v5e_gpt_scan", "--capacity=v5e"),
                ("diff", "{}/run/compare/plain.hlo.pb.gz", "{}/run/compare/rematerialized.hlo.pb.gz"),
                ("diff", "{}/run/plugins/profile/v5e_gpt_4layer", "{}/run/plugins/profile/v5e_gpt_scan"))

    def test_every_command(self):
        with tempfile.TemporaryDirectory() as folder:
            make_folder(pathlib.Path(folder))
            for scheme in SCHEMES:
                with RealBucket(scheme, folder) as bucket:
                    for command in self.COMMANDS:
                        here = run([part.format(folder) for part in command], bucket.environment())
                        there = run([part.format(bucket.url()) for part in command], bucket.environment())
                        with self.subTest(scheme, command=command):
                            self.assertEqual(here.returncode, 0, here.stderr)
                            self.assertEqual((there.returncode, equal_part(there.stdout, bucket.url())),
                                             (0, equal_part(here.stdout, folder)), there.stderr)

    def test_a_local_file_beside_one_in_a_bucket(self):
        plain = str(FIXTURES / "compare" / "plain.hlo.pb.gz")
        for scheme in SCHEMES:
            with RealBucket(scheme, FIXTURES / "compare") as bucket:
                for command in (("diff", plain, bucket.url("plain.hlo.pb.gz")),
                                ("diff", bucket.url("plain.hlo.pb.gz"), plain)):
                    answer = run(command, bucket.environment())
                    self.assertEqual(answer.returncode, 0, answer.stderr)
                    self.assertEqual(answer.stdout.replace(bucket.url("plain.hlo.pb.gz").encode(), plain.encode()),
                                     run(("diff", plain, plain), bucket.environment()).stdout)


class Versions(unittest.TestCase):
    def test_a_replaced_object_is_one_version_or_the_other(self):
        """Within the seconds that a list of objects holds, the old version is answered from what was read of it, or the
        replacement is told; then comes the new one."""
        before, after = (next((PROFILES / name).iterdir()).read_bytes() for name in ("v5e_matmul", "v5e_gpt_4layer"))
        for scheme in SCHEMES:
            with RealBucket(scheme) as bucket:
                bucket.put("run/plugins/profile/s/a.xplane.pb.gz", before)
                with Server(logdir=bucket.url("run"), environment=bucket.environment()) as server:
                    self.assertEqual(server.get("/api/v1/sessions").status, 200)
                    bucket.put("run/plugins/profile/s/a.xplane.pb.gz", after)
                    names, last = None, time.monotonic() + REPLACED_SECONDS
                    while names != ["jit_train_step(1)"]:
                        self.assertLess(time.monotonic(), last, "the old version is still told")
                        answer = server.get("/api/v1/modules", {"session": "s"})
                        if "replaced" in answer.body.decode():
                            continue
                        names = [module["name"] for module in answer.json()["modules"]]
                        self.assertIn(names, (["jit__lambda(1)"], ["jit_train_step(1)"]))


class Signatures(unittest.TestCase):
    def test_a_wrong_secret_is_refused_with_who_asked(self):
        with RealBucket("s3", FIXTURES / "compare") as bucket:
            environment = {**bucket.environment(), "AWS_SECRET_ACCESS_KEY": "not-the-secret"}
            answer = run(("report", bucket.url()), environment)
            self.assertEqual(answer.returncode, 3)
            for word in (b"AKIAREAL", b"403", b"aws sts get-caller-identity", bucket.url().encode()):
                self.assertIn(word, answer.stderr)
            self.assertNotIn(b"not-the-secret", answer.stderr + answer.stdout)


if __name__ == "__main__":
    unittest.main()
