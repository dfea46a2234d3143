"""hbmview get_memory_profile and get_peak_allocations against XProf's own answers (scripts/record-xprof-commands)."""
import gzip
import json
import unittest

from hbmview_command import FIXTURES, PROFILES, hbmview

LOGDIR = FIXTURES / "logdir"


def recorded():
    with gzip.open(FIXTURES / "xprof_commands.json.gz") as packed:
        return json.load(packed)


def answer(*arguments):
    done = hbmview(*arguments)
    try:
        document = json.loads(done.out)
    except ValueError:
        return done, done.out
    return done, document


class AsXprof(unittest.TestCase):
    maxDiff = 2000

    def test_every_session(self):
        for session, commands in recorded().items():
            for command, expected in commands.items():
                with self.subTest(session=session, command=command):
                    name, *options = command.split()
                    done, document = answer(name, PROFILES / session, *options)
                    capture = document.pop("capture", None) if isinstance(document, dict) else None
                    if isinstance(expected, dict) and expected.get("status") == "ERROR":
                        self.check_error(done, document, expected)
                        continue
                    self.assertEqual(document, expected)
                    self.assertEqual(done.code, 0)
                    if capture:
                        self.assertEqual((capture["run"], capture["warnings"]), (session, []))

    def check_error(self, done, document, expected):
        self.assertEqual((document["status"], document["reason"]), ("ERROR", expected["reason"]))
        self.assertEqual(document["error"].split(" were found")[0], expected["error"].split(" were found")[0])
        self.assertEqual(done.code, 3)


class Arguments(unittest.TestCase):
    def test_the_newest_session_or_the_one_that_is_named(self):
        self.assertEqual(answer("get_memory_profile", LOGDIR)[1]["capture"]["run"], "v6e_gpt_fsdp")
        for arguments in ([LOGDIR, "--session_id=tf_leak"], [f"--logdir={LOGDIR}", "--session_id", "tf_leak"],
                          ["tf_leak", f"--logdir={LOGDIR}"]):
            document = answer("get_memory_profile", *arguments)[1]
            self.assertEqual((document["capture"]["run"], document["memory_capacity_gib"]), ("tf_leak", 64.0))

    def test_one_of_several_hosts(self):
        several = answer("get_memory_profile", PROFILES / "tf_two_hosts")[1]
        self.assertIn("worker1", several["error"])
        one = answer("get_memory_profile", PROFILES / "tf_two_hosts", "--host=worker1")[1]
        self.assertEqual(one["capture"]["files_used"], ["worker1"])
        none = answer("get_memory_profile", PROFILES / "tf_two_hosts", "--host=stranger")[1]
        self.assertIn("stranger", none["error"])

    def test_switches_without_a_value(self):
        path = PROFILES / "v5e_matmul"
        self.assertIn("summary", answer("get_peak_allocations", path, "--include_summary", "--bypass_cache")[1])
        self.assertEqual(hbmview("get_peak_allocations", path, "--include_summary=perhaps").code, 2)

    def test_what_is_not_there(self):
        for command in ("get_memory_profile", "get_peak_allocations"):
            done, document = answer(command, "/no/such/folder")
            self.assertEqual((done.code, document["reason"]), (3, "PATH_ERROR"))
            self.assertEqual(hbmview(command).code, 2)
            self.assertEqual(hbmview(command, "--help").code, 0)


if __name__ == "__main__":
    unittest.main()
