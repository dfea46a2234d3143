"""The program's own flags (`hbmview --list_flags`), and the files that are made of them, once for a run."""
import functools
import os
import pathlib
import subprocess
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]


def program():
    return str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())


def told(*words):
    return subprocess.run(words, cwd=REPO, check=True, text=True, stdout=subprocess.PIPE).stdout


@functools.cache
def commands():
    """name -> {flag: (kind, choices)}."""
    found = {}
    for what, name, *rest in (line.split("\t") for line in told(program(), "--list_flags").splitlines()):
        if what == "command":
            flags = found.setdefault(name, {})
        elif what == "flag":
            flags[name] = rest[0], rest[1].split() if len(rest) > 1 else []
    return found


_folder = None


def share():
    """The folder that holds man/man1/hbmview.1 and the completions."""
    global _folder
    if not _folder:
        _folder = tempfile.TemporaryDirectory()
        told("node", "scripts/packaging/describe.mjs", program(), _folder.name)
    return pathlib.Path(_folder.name)
