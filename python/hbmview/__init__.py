"""Where did the memory of my accelerator go, and which line of my program put it there?

The work is done by the program `hbmview`, which the package brings along; what it answers comes here as JSON.

    hbmview.report("/tmp/xprof", by="source")        what programs need, and who holds it
    hbmview.explain(error, logdir="/tmp/dump")       an out-of-memory message: what it means, what to change
    hbmview.diff("before", "after")                  what changed between two programs
    hbmview.advise("/tmp/xprof", capacity="v5e")     what a change would save, in bytes
    hbmview.check("/tmp/dump")                       the same beside what the compiler makes of it (needs jax)

    hbmview.show("/tmp/xprof")                       the page, in a notebook's cell or at a printed address
    with hbmview.Server("/tmp/xprof") as server:     the same by hand: server.url
    with hbmview.catch():                            an out-of-memory exception is explained below its traceback
    hbmview.table("/tmp/xprof")                      buffers at the peak as an Arrow table (needs pyarrow)

Paths are whatever the program takes: log directories, sessions, dumps, single files, gs://, s3:// and https://. An
answer is a dict (docs/report.md, docs/diff.md and docs/api.md say what is in it) that shows itself in words where it
is printed or is a notebook cell's result.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ._catch import Explanation, catch
from ._check import Checked, check
from ._document import Document
from ._run import BinaryNotFound, CheckFailed, HbmviewError, ReadError, ReadWarning, UsageError
from ._questions import advise, diff, explain, report
from ._server import Server
from ._show import show
from ._table import table
from ._version import __version__

__all__ = [
    "BinaryNotFound",
    "CheckFailed",
    "Checked",
    "Document",
    "Explanation",
    "HbmviewError",
    "ReadError",
    "ReadWarning",
    "Server",
    "UsageError",
    "__version__",
    "advise",
    "catch",
    "check",
    "diff",
    "explain",
    "load_ipython_extension",
    "report",
    "show",
    "table",
    "unload_ipython_extension",
]

# Read when they are first asked for: what they import is not the standard library's.
_LATER = ("fit", "fleet")


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext hbmview`: the magic %hbmview, and out-of-memory exceptions explained below their cells."""
    from ._ipython import load_ipython_extension as load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext hbmview`"""
    from ._ipython import unload_ipython_extension as unload

    unload(shell)


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
