"""Where a program lies as it was before the compiler changed it.

    advise: session "run_1", module "jit_step(39)"      PATH, PATH/run_1, PATH/plugins/profile/run_1, --hlo
       -> module_0039.jit_step.cl_1.before_optimizations.hlo.pb, or .txt, each also .gz

XLA writes it where XLA_FLAGS has --xla_dump_to. A profile (XSpace) holds programs only as they were compiled. Names
are those of analysis/input/dump_name.h; a number is the program's where it comes from a dump, and says nothing where it
comes from a profile.
"""

from __future__ import annotations

import os
import re
from typing import Iterable, List, NamedTuple, Optional

from .._fit.targets import FitError

_NAME = re.compile(r"^(?:\d+\.)?module_(?P<number>\d+)(?:\.(?P<name>.*?))?(?:\.cl_\d+)?\.before_optimizations"
                   r"\.(?P<form>hlo\.pb|txt)(?:\.gz)?$")
_HOW = ("Run it once more with XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\", then ask about DIR, or name "
        "the file by --hlo=FILE.")


class Source(NamedTuple):
    """A file, and whose compiler made what lies beside it."""

    path: str
    backend: Optional[str]  # "cpu" or "gpu"; None: a TPU's


def source_of(path: str, session: str, module: str, told: Optional[str]) -> Source:
    """The file of `module` ("jit_f(39)") of `session` below `path`; `told` is a file, or a folder to look in.

    Raises FitError, which says how to get it.
    """
    if "://" in path and told is None:
        raise FitError(f"{path} is not on this machine, and the compiler reads files: copy the dump here. {_HOW}")
    if told is not None and os.path.isfile(told):
        return _source(told)
    folders = [told] if told is not None else _folders(path, session)
    found = _best([os.path.join(folder, name) for folder in folders for name in _listed(folder)], module)
    if found is None:
        raise FitError(
            f"{told or path} has {module} only as it was compiled: no file of it ends in before_optimizations.hlo.pb "
            f"or before_optimizations.txt, which is the program before the compiler changed it. {_HOW}")
    return _source(found)


def _folders(path: str, session: str) -> List[str]:
    folder = path if os.path.isdir(path) else os.path.dirname(path) or "."
    below = [os.path.join(folder, session), os.path.join(folder, "plugins", "profile", session)] if session else []
    return [one for one in (*below, folder) if os.path.isdir(one)]


def _listed(folder: str) -> List[str]:
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def _best(files: Iterable[str], module: str) -> Optional[str]:
    """The one of the module's number, else the last of its name: it was compiled last. A proto rather than text."""
    wanted = re.fullmatch(r"(?P<name>.*?)(?:\((?P<number>\d+)\))?", module)
    assert wanted is not None
    known = [(_NAME.match(os.path.basename(file)), file) for file in files]
    named = [(match, file) for match, file in known
             if match is not None and match["name"] in (None, wanted["name"])]
    of_number = [one for one in named if wanted["number"] and int(one[0]["number"]) == int(wanted["number"])]
    chosen = max(of_number or named, default=None,
                 key=lambda one: (int(one[0]["number"]), one[0]["form"] == "hlo.pb"))
    return None if chosen is None else chosen[1]


def _source(file: str) -> Source:
    """Whose compiler it was stands in the names of what it wrote afterwards."""
    stem = os.path.basename(file).split(".before_optimizations")[0]
    beside = [name for name in _listed(os.path.dirname(file) or ".") if name.startswith(stem)]
    for backend in ("gpu", "cpu"):
        if any(f"{backend}_after_optimizations" in name for name in beside):
            return Source(os.path.abspath(file), backend)
    return Source(os.path.abspath(file), None)
