"""Where XLA leaves the programs that it compiles, so that an out-of-memory message can be joined to its buffers.

    XLA_FLAGS has --xla_dump_to   the user's folder, which stays
    jax has not begun             a folder of our own, until Python ends: XLA reads its flags once, when jax begins
    jax has begun                 none; the remark says so

XLA goes on writing there as long as the process lives, so there is one folder for all that ask.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import weakref
from typing import List, NamedTuple, Optional


class Dump(NamedTuple):
    folder: Optional[str]
    remark: str           # why there is none, or ""
    stays: bool = True    # the folder is the user's own

    def has_programs(self) -> bool:
        return bool(self.folder and os.path.isdir(self.folder) and any(".hlo" in n for n in os.listdir(self.folder)))


_TOO_LATE = (
    "Its buffers are not known: jax had begun before hbmview could ask XLA for a dump. To name them, restart Python "
    "and call hbmview.catch() (in a notebook `%load_ext hbmview`) before anything is compiled, or set "
    "XLA_FLAGS=--xla_dump_to=DIR yourself."
)


class _Folder:
    """A folder that goes when Python ends."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="hbmview-dump-")
        weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)


_own: List[_Folder] = []  # at most one


def arranged() -> Dump:
    """Sees to it that XLA dumps, if that can be done still."""
    if _own:
        return Dump(_own[0].name, "", False)
    flags = os.environ.get("XLA_FLAGS", "")
    named = re.search(r"--xla_dump_to=(?:\"([^\"]+)\"|'([^']+)'|(\S+))", flags)
    if named and (named[3] in ("-", "sponge") or "://" in (named[3] or "")):
        return Dump(None, f"Its buffers are not known: XLA dumps to {named[3]}, which hbmview cannot read.")
    if named:
        return Dump(named[1] or named[2] or named[3], "")
    if has_begun():
        return Dump(None, _TOO_LATE)
    _own.append(_Folder())
    os.environ["XLA_FLAGS"] = f"{flags} --xla_dump_to={_own[0].name} --xla_dump_hlo_as_proto".strip()
    return Dump(_own[0].name, "", False)


def end_asking() -> None:
    """Takes our flags away again where XLA has read them, so that programs started from here do not dump as well."""
    if _own and has_begun():
        ours = f"--xla_dump_to={_own[0].name} --xla_dump_hlo_as_proto"
        left = os.environ.get("XLA_FLAGS", "").replace(ours, "").strip()
        if left:
            os.environ["XLA_FLAGS"] = left
        else:
            os.environ.pop("XLA_FLAGS", None)


def has_begun() -> bool:
    """Whether jax has made its backends, and with them read XLA's flags."""
    return bool(getattr(sys.modules.get("jax._src.xla_bridge"), "_backends", None))
