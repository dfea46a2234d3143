"""Where did the memory of my accelerator go, and which line of my program put it there?

The work is done by the program `hbmview`, which the package brings along; what it answers comes here as JSON.

    hbmview.report("/tmp/xprof", by="source")        what programs need, and who holds it
    hbmview.explain(error, logdir="/tmp/dump")       an out-of-memory message: what it means, what to change
    hbmview.diff("before", "after")                  what changed between two programs
    hbmview.advise("/tmp/xprof", capacity="v5e")     what a change would save, in bytes

Paths are whatever the program takes: log directories, sessions, dumps, single files, gs://, s3:// and https://. An
answer is a dict (docs/report.md, docs/diff.md and docs/api.md say what is in it) that shows itself in words where it
is printed or is a notebook cell's result.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._document import Document
from ._run import BinaryNotFound, CheckFailed, HbmviewError, ReadError, ReadWarning, UsageError
from ._questions import advise, diff, explain, report
from ._version import __version__

__all__ = [
    "BinaryNotFound",
    "CheckFailed",
    "Document",
    "HbmviewError",
    "ReadError",
    "ReadWarning",
    "UsageError",
    "__version__",
    "advise",
    "diff",
    "explain",
    "report",
]

# Read when they are first asked for: what they import is not the standard library's.
_LATER = ("fit", "fleet")


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
