"""What each shell offers after "hbmview", asked of the shells themselves."""
import shlex
import subprocess
import unittest

from described_program import commands, share, told

BASH = """
compopt() { :; }
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_hbmview; printf '%s\\n' "${COMPREPLY[@]}"
"""


def bash(*words):
    file = str(share() / "bash-completion/completions/hbmview")
    return set(told("bash", "-c", BASH, "bash", file, *words).split())


def fish(line):
    file = share() / "fish/vendor_completions.d/hbmview.fish"
    printed = told("fish", "--no-config", "-c", f"source {file}; complete -C {shlex.quote(line)}")
    return {offered.split("\t")[0] for offered in printed.splitlines()}


def zsh(*words):
    """What the completion says to zsh's _arguments and _describe."""
    script = ('_arguments() { print -rl -- "$@" }; _describe() { print -rl -- ${(P)2} }; file=$1; shift; '
              'words=("$@"); CURRENT=$#; source $file')
    return told("zsh", "-f", "-c", script, "zsh", str(share() / "zsh/site-functions/_hbmview"), *words).splitlines()


def dashed(command):
    return {f"--{name}" for name in commands()[command]}


class CompletionsTest(unittest.TestCase):
    def setUp(self):
        self.named = set(commands()) - {"serve"}
        self.assertLessEqual({"report", "explain", "advise", "diff", "watch"}, self.named)

    def test_the_first_word_is_a_command(self):
        self.assertEqual(self.named, bash("hbmview", ""))
        self.assertLessEqual(self.named, fish("hbmview "))
        self.assertLessEqual(self.named, {line.split(":")[0] for line in zsh("hbmview", "")})

    def test_each_command_offers_its_own_flags_and_no_others(self):
        for command in self.named:
            with self.subTest(command):
                self.assertEqual(dashed(command), bash("hbmview", command, "--"))
                self.assertEqual(dashed(command), fish(f"hbmview {command} --"))
                offered = {line.split("[")[0].rstrip("=") for line in zsh("hbmview", command, "--") if line[:2] == "--"}
                self.assertEqual(dashed(command), offered)

    def test_without_a_command_the_flags_are_the_servers(self):
        self.assertEqual(dashed("serve"), bash("hbmview", "--"))
        self.assertEqual(dashed("serve"), fish("hbmview --"))
        self.assertEqual({"--port"}, bash("hbmview", "--logdir", "/tmp", "--po"))

    def test_a_choice_offers_what_may_be_chosen(self):
        kind, choices = commands()["report"]["by"]
        self.assertEqual(("choice", True), (kind, "source" in choices))
        self.assertEqual(set(choices), bash("hbmview", "report", "--by", ""))
        self.assertEqual({"source", "stack", "scope", "shape"}, bash("hbmview", "report", "--by", "=", "s"))
        self.assertEqual(set(choices), bash("hbmview", "report", "--by", "="))
        self.assertEqual(set(choices), fish("hbmview report --by "))
        self.assertIn(f"({' '.join(choices)})", "".join(zsh("hbmview", "report", "--by")))

    def test_a_path_offers_files_and_a_number_nothing(self):
        self.assertIn("/etc/passwd", bash("hbmview", "--logdir", "=", "/etc/passw"))
        self.assertIn("/etc/passwd", bash("hbmview", "report", "/etc/passw"))
        self.assertEqual(set(), bash("hbmview", "--port", ""))

    def test_the_shells_can_parse_them(self):
        subprocess.run(["zsh", "-n", str(share() / "zsh/site-functions/_hbmview")], check=True)
        subprocess.run(["bash", "-n", str(share() / "bash-completion/completions/hbmview")], check=True)
        subprocess.run(["fish", "-n", str(share() / "fish/vendor_completions.d/hbmview.fish")], check=True)


if __name__ == "__main__":
    unittest.main()
