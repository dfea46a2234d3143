"""scripts/mutate: its list can be applied to the sources as they are, and what is wrong with a list is an error."""
import pathlib
import subprocess
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
GOOD = {"what": "a change", "file": "tests/scripts/test_mutations.py", "old": "GO" + "OD = {", "new": "BAD = {",
        "test": "unit test_base"}
SPAN = {"file": "web/js/base/range.js", "old": "return r.end - r.begin;", "test": "web range"}


def mutate(*options):
    return subprocess.run(["scripts/mutate", *options], cwd=REPO, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def mutate_by(*options, **changes):
    entry = "[[mutation]]\n" + "".join(f"{key} = '''{value}'''\n" for key, value in {**GOOD, **changes}.items())
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "list.toml").write_text(entry)
        return mutate("--folder", folder, *options)


def check(*options):
    return mutate("--check", *options)


def check_list(**changes):
    return mutate_by("--check", **changes)


class MutationsTest(unittest.TestCase):
    def test_every_text_of_the_list_stands_once_in_its_file(self):
        checked = check()
        self.assertEqual((0, ""), (checked.returncode, checked.stdout))

    def test_a_part_is_every_nth_entry(self):
        listed, part = (mutate("--list", *more).stdout.splitlines() for more in ((), ("--every=5",)))
        self.assertIn(part, [listed[begin::5] for begin in range(5)])

    def test_a_good_entry_passes(self):
        self.assertEqual(0, check_list().returncode)

    def test_a_text_that_is_gone_is_an_error(self):
        self.assertIn("stands 0 times", check_list(old="no such " + "text").stdout)
        self.assertIn("stands 0 times", check_list(file="no_such_file.c").stdout)

    def test_a_text_that_stands_twice_is_an_error(self):
        self.assertRegex(check_list(old="check_list").stdout, "stands [0-9]+ times")

    def test_a_change_that_changes_nothing_is_an_error(self):
        self.assertIn("changes nothing", check_list(new=GOOD["old"]).stdout)

    def test_an_unknown_kind_of_test_is_an_error(self):
        self.assertIn("no kind of test", check_list(test="magic").stdout)

    def test_an_empty_list_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(2, check("--folder", folder).returncode)

    def test_a_change_that_its_test_sees_is_caught(self):
        done = mutate_by(**SPAN, new="return r.begin - r.end;")
        self.assertIn("1 of 1 mutations caught", done.stdout)
        self.assertEqual(0, done.returncode)

    def test_a_change_that_no_test_sees_survives(self):
        done = mutate_by(**SPAN, new="return -r.begin + r.end;")
        self.assertIn("SURVIVED", done.stdout)
        self.assertEqual(1, done.returncode)


if __name__ == "__main__":
    unittest.main()
