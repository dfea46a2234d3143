"""Where the program is: $HBMVIEW, else beside this Python's other scripts, else on PATH.

The wheel puts it among the scripts of the environment that it is installed into (as ruff and ninja do), which need
not be on PATH: a kernel of another environment, /venv/bin/python without activation, pip install --target.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import Iterator

NAME = "hbmview.exe" if sys.platform == "win32" else "hbmview"


class BinaryNotFound(FileNotFoundError):
    """The program is nowhere; the sentence says where it was looked for, and what to do."""


def find() -> str:
    """The path of the program."""
    told = os.environ.get("HBMVIEW")
    if told:
        if _runs(told):
            return os.path.abspath(told)
        raise BinaryNotFound(f"$HBMVIEW names {told}, which is no program that can be run")
    folders = list(_folders())
    for folder in folders:
        if _runs(os.path.join(folder, NAME)):
            return os.path.join(folder, NAME)
    found = shutil.which(NAME)
    if found:
        return found
    raise BinaryNotFound(
        f"the program {NAME} is neither in {', '.join(folders)} nor on PATH; install it with `pip install hbmview`, "
        "or set HBMVIEW to where it is"
    )


def _folders() -> Iterator[str]:
    """Where pip puts scripts: of this environment, of the user, of --target or --prefix beside the package."""
    yield sysconfig.get_path("scripts")
    user = sysconfig.get_path("scripts", "nt_user" if sys.platform == "win32" else "posix_user")
    yield user
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield os.path.join(beside, "bin")


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)
