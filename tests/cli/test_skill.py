"""Every command of skills/hbmview/SKILL.md, as an agent would run it: it works, and what it prints is small JSON."""
import json
import pathlib
import re
import shlex
import tempfile
import unittest

from hbmview_command import PROFILES, REPO, hbmview

SKILL = REPO / "skills" / "hbmview" / "SKILL.md"
MESSAGE = ("RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 52.93G of "
           "15.75G hbm. Exceeded hbm capacity by 37.18G.\n")
TOO_BIG = 1
SMALL = 12000  # characters


def commands():
    blocks = re.findall(r"```sh\n(.*?)```", SKILL.read_text(), re.S)
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip()]


class Skill(unittest.TestCase):
    def run_command(self, line, values):
        words = shlex.split(re.sub(r"\$(\w+)", lambda match: shlex.quote(values[match[1]]), line))
        self.assertEqual(words[0], "hbmview")
        return hbmview(*words[1:])

    def test_every_command(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "train.log"
            log.write_text(MESSAGE)
            before, after = PROFILES / "v5e_gpt_12layer_oom", PROFILES / "v5e_gpt_4layer"
            values = {"LOG": log, "PATH_": before, "BEFORE": before, "AFTER": after, "MODULE": "jit_train_step"}
            values = {name: str(value) for name, value in values.items()}
            self.assertGreater(len(commands()), 9)
            for line in commands():
                with self.subTest(command=line):
                    done = self.run_command(line, values)
                    self.assertEqual(done.code, 0, done)
                    self.assertIsNotNone(json.loads(done.out))
                    self.assertLess(len(done.out), SMALL)

    def test_the_last_check_sees_what_is_too_big(self):
        [check] = [line for line in commands() if "--fail-over" in line]
        values = {"AFTER": str(PROFILES / "v5e_gpt_12layer_oom"), "MODULE": "jit_train_step"}
        self.assertEqual(self.run_command(check, values).code, TOO_BIG)

    def test_members_that_it_names_are_there(self):
        done = hbmview("explain", "-", "--format=json")
        self.assertEqual(done.code, 1)  # an empty log has no message
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "train.log"
            log.write_text(MESSAGE)
            done = hbmview("explain", log, f"--logdir={PROFILES / 'v5e_gpt_12layer_oom'}", "--module=jit_train_step",
                           "--session=v5e_gpt_12layer_oom", "--format=json", "--top=3")
        message = done.json()["messages"][0]
        for member in ("needed_bytes", "capacity_bytes", "over_bytes", "scenario_reason", "joined", "who_holds",
                       "fixes", "plan"):
            self.assertIn(member, message)
        self.assertIn("disagreements", message["joined"])


if __name__ == "__main__":
    unittest.main()
