"""There is one version number, in VERSION; whatever tells a version tells that one."""
import re
import subprocess
import unittest

from described_program import REPO, program, share, told

VERSION = (REPO / "VERSION").read_text().strip()


class VersionTest(unittest.TestCase):
    def test_the_program_tells_it(self):
        self.assertEqual(f"hbmview {VERSION}\n", told(program(), "--version"))

    def test_the_newest_entry_of_the_changelog_is_of_this_version(self):
        headings = re.findall(r"^## (.*)$", (REPO / "CHANGELOG.md").read_text(), re.M)
        self.assertRegex(headings[0], re.escape(VERSION) + r" \(\d{4}-\d\d-\d\d\)$")

    def test_the_man_page_tells_it(self):
        self.assertIn(f'"hbmview {VERSION}"', (share() / "man/man1/hbmview.1").read_text().splitlines()[0])

    def test_no_source_has_it_a_second_time(self):
        looked = subprocess.run(["git", "grep", "-lwF", VERSION, "--", "*.c", "*.h", "*.toml", "*.mjs", "python",
                                 "scripts", "Makefile"], cwd=REPO, text=True, stdout=subprocess.PIPE)
        self.assertEqual((1, ""), (looked.returncode, looked.stdout))  # 1: it found nothing


if __name__ == "__main__":
    unittest.main()
