"""make install and make uninstall, and what the systemd unit allows."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from described_program import REPO, commands, program, share, told

EXPOSURE_MAX = 2.0  # of systemd-analyze security: 10 is a service without any protection
INSTALLED = {"bin/hbmview", "lib/systemd/system/hbmview.service", "share/man/man1/hbmview.1",
             "share/bash-completion/completions/hbmview", "share/zsh/site-functions/_hbmview",
             "share/fish/vendor_completions.d/hbmview.fish"}


def make(*words):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(["make", *words], cwd=REPO, env=environment, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


class InstallTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def files(self):
        return {str(path.relative_to(self.root / "usr")) for path in self.root.rglob("*") if path.is_file()}

    def test_everything_is_installed_below_the_prefix_and_removed_again(self):
        where = f"DESTDIR={self.root}", "PREFIX=/usr"
        make("install", *where)
        self.assertEqual(INSTALLED, self.files())
        self.assertEqual(told(program(), "--version"), told(str(self.root / "usr/bin/hbmview"), "--version"))
        unit = (self.root / "usr/lib/systemd/system/hbmview.service").read_text()
        self.assertIn("ExecStart=/usr/bin/hbmview --logdir=", unit)
        make("uninstall", *where)
        self.assertEqual(set(), self.files())

    def test_the_unit_is_well_formed_and_hardened(self):
        unit = self.root / "hbmview.service"
        text = (REPO / "scripts/packaging/hbmview.service").read_text()
        unit.write_text(text.replace("@BINDIR@/hbmview", program()).replace("man:hbmview(1)", "https://example.com/"))
        checked = subprocess.run(["systemd-analyze", "verify", str(unit)], text=True, stderr=subprocess.PIPE)
        self.assertEqual((0, ""), (checked.returncode, checked.stderr))
        graded = told("systemd-analyze", "security", "--offline=true", "--no-pager", str(unit))
        exposure = re.search(r"Overall exposure level for \S+: ([0-9.]+)", graded)
        self.assertLessEqual(float(exposure[1]), EXPOSURE_MAX, graded)


class ManPageTest(unittest.TestCase):
    def setUp(self):
        self.text = (share() / "man/man1/hbmview.1").read_text()

    def test_it_has_every_flag_of_every_command(self):
        sections = dict(re.findall(r"^\.SS hbmview ?(\w*): [^\n]*\n(.*?)(?=^\.S[SH] )", self.text, re.M | re.S))
        self.assertEqual(set(commands()), {name or "serve" for name in sections})
        for command, flags in commands().items():
            section = sections["" if command == "serve" else command].replace("\\-", "-")
            self.assertEqual(list(flags), re.findall(r"^\.TP\n\\fB--([\w-]+)", section, re.M), command)

    def test_nothing_is_said_twice_or_left_unsaid(self):
        self.assertNotIn("@", re.sub(r"\S+@\S+", "", self.text.split(".SH DESCRIPTION")[0]))
        self.assertNotIn("See above.", self.text)

    def test_no_line_of_text_is_taken_for_a_request(self):
        requests = {line.split()[0] for line in self.text.splitlines() if line[:1] in ".'"}
        self.assertLessEqual(requests, {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".BR", ".br", ".nf", ".fi"})


if __name__ == "__main__":
    unittest.main()
