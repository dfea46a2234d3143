"""Runs `hbmview` as a shell would.

    done = hbmview("report", path, "--format=json")
    done.code, done.out, done.errors, done.json()

The program is $HBMVIEW (default build/hbmview), the folder is the repository's, COLUMNS is not set.
"""
import json
import os
import pathlib
import subprocess

REPO = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
PROFILES = FIXTURES / "logdir" / "plugins" / "profile"
CORPUS = REPO.parent / "shared" / "corpus"
SECONDS = 120


def program():
    return str((REPO / os.environ.get("HBMVIEW", "build/hbmview")).resolve())


def environment(**more):
    return {**{key: value for key, value in os.environ.items() if key != "COLUMNS"}, **more}


class Done:
    def __init__(self, arguments, finished):
        self.arguments, self.code = arguments, finished.returncode
        self.out, self.errors = finished.stdout.decode(), finished.stderr.decode()

    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"hbmview {' '.join(self.arguments)}: exit {self.code}\n{self.out[-2000:]}\n{self.errors[-2000:]}"


def hbmview(*arguments, columns=None, stdout=subprocess.PIPE, **variables):
    arguments = [str(argument) for argument in arguments]
    more = {**variables, **({"COLUMNS": str(columns)} if columns else {})}
    finished = subprocess.run([program(), *arguments], cwd=REPO, env=environment(**more), stdin=subprocess.DEVNULL,
                              stdout=stdout, stderr=subprocess.PIPE, timeout=SECONDS, check=False)
    finished.stdout = finished.stdout or b""
    return Done(arguments, finished)
