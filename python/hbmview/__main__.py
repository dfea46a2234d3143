"""`python -m hbmview ...` is the program `hbmview ...`, and has the commands that are Python: check, fit and fleet."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Callable, List, cast

from ._binary import BinaryNotFound, find

# Each is a module with main(arguments) -> exit code.
_IN_PYTHON = {
    "check": "hbmview._check_command",
    "fit": "hbmview._fit_command",
    "fleet": "hbmview._fleet_command",
}


def main(arguments: List[str]) -> int:
    """Runs a command of Python's, or becomes the program."""
    if arguments and arguments[0] in _IN_PYTHON:
        command = cast(Callable[[List[str]], int], import_module(_IN_PYTHON[arguments[0]]).main)
        return command(arguments[1:])
    try:
        program = find()
    except BinaryNotFound as error:
        print(f"hbmview: {error}", file=sys.stderr)
        return 2
    os.execv(program, [program, *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
