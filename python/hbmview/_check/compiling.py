"""Has one variant of a program compiled, and reads the compiler's total of its dump.

    Variant  ->  worker.py, a process  ->  dump  ->  hbmview report  ->  Outcome

What takes a compiler its time is the machine code, which nobody here needs: once libtpu has written its buffers the
process is ended. A process that ends by itself in the middle (XLA aborts on what it thinks impossible) is an outcome
like others. Runs no jax itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

from .._questions import report
from .._run import HbmviewError

_AFTER_BUFFERS = "*.after_optimizations_after_buffer_assignment.hlo.pb"
_LOOK_SECONDS = 0.2
TIME_LIMIT = 1800  # seconds for one compile: large programs take minutes, what takes longer is stuck as a rule


@dataclass(frozen=True)
class Variant:
    """What differs from the program as it is: changes of change.py's by the advice's ids, and options of XLA's."""

    changes: Sequence[str] = ()
    options: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What became of a variant. `status` is compiled, too_big (more than a limit), out_of_memory (the compiler gave up;
    the total is of what did not fit), not_in_module or failed."""

    status: str
    reason: str = ""             # of the last three
    total: Optional[int] = None  # bytes that the compiler assigned in the device's memory; None where it did not
    changed: int = 0             # parameters that the change is about
    seconds: float = 0.0
    versions: Dict[str, str] = field(default_factory=dict)
    exit_code: Optional[int] = None  # of what is missing here, jax for example; None: the compiler's own words


def outcome_of(source: str, topology: Optional[str], variant: Variant, time_limit: float = TIME_LIMIT) -> Outcome:
    """Compiles the variant of the program in the file `source`; one that takes longer than so many seconds failed."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hbmview-check-") as folder:
        asked = {"source": source, "topology": topology, "changes": list(variant.changes),
                 "options": variant.options, "folder": folder}
        said = _said(asked, folder, time_limit)
        total = _total(folder)
    return _outcome(said, total, time.monotonic() - began)


def _outcome(said: Dict[str, Any], total: Optional[int], seconds: float) -> Outcome:
    status, reason = said.get("status", "compiled"), said.get("reason", "")
    if status == "compiled" and total is None:
        status, reason = "failed", reason or "the compiler left no assignment of buffers"
    total = None if status in ("failed", "not_in_module") else total
    return Outcome(status, reason, total, said.get("changed", 0), seconds, said.get("versions", {}),
                   said.get("exit_code"))


def _said(asked: Dict[str, Any], folder: str, time_limit: float) -> Dict[str, Any]:
    """All that the worker said, in one; how it ended where it could not say."""
    is_done, is_late = False, False
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as complaints:
        worker = subprocess.Popen([sys.executable, "-m", f"{__package__}.worker"], env=_environment(asked),
                                  stdin=subprocess.PIPE, stdout=out, stderr=complaints)
        try:
            is_done = _wait(worker, json.dumps(asked).encode(), folder, time_limit)
        except subprocess.TimeoutExpired:
            is_late = True
        finally:
            worker.kill()
            worker.wait()
        said = _lines(out)
        if not is_done and "status" not in said:
            ending = _lateness(time_limit) if is_late else _ending(worker.returncode, complaints)
            said.update(status="failed", reason=ending)
    return said


def _wait(worker: subprocess.Popen[bytes], asked: bytes, folder: str, time_limit: float) -> bool:
    """Until it ends, or its buffers are written. Whether they are. Raises TimeoutExpired."""
    assert worker.stdin is not None
    until = time.monotonic() + time_limit
    with contextlib.suppress(BrokenPipeError):  # it has ended without reading; how, its exit code says
        with worker.stdin as question:
            question.write(asked)
    before: List[int] = []
    while worker.poll() is None:
        sizes = [one.stat().st_size for one in pathlib.Path(folder).glob(_AFTER_BUFFERS)]
        if any(sizes) and sizes == before:  # written, so it seems; it may also end for want of memory
            return True
        before = sizes
        if time.monotonic() >= until:
            raise subprocess.TimeoutExpired(worker.args, time_limit)
        time.sleep(_LOOK_SECONDS)
    return False


def _lines(file: Any) -> Dict[str, Any]:
    said: Dict[str, Any] = {}
    file.seek(0)
    for line in file.read().decode("utf-8", "replace").splitlines():
        try:
            said.update(json.loads(line))
        except ValueError:  # a library's own words
            continue
    return said


def _lateness(time_limit: float) -> str:
    return f"not compiled within {time_limit:g} s (--time_limit=SECONDS allows more)"


def _ending(code: int, complaints: Any) -> str:
    complaints.seek(0)
    lines: List[str] = complaints.read().decode("utf-8", "replace").strip().splitlines()
    last = next((line for line in reversed(lines) if "Check failed" in line or "Error" in line), "")
    ended = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"the compiler ended with {ended}" + (f": {last[:200]}" if last else "")


def _environment(asked: Dict[str, Any]) -> Dict[str, str]:
    """This package, wherever it lies; and no accelerator is taken from whoever trains on it."""
    package = str(pathlib.Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    kept = {} if asked["topology"] in ("gpu", "cuda", "rocm") else {"JAX_PLATFORMS": "cpu"}
    return {**os.environ, **kept, "PYTHONPATH": path}


def _total(folder: str) -> Optional[int]:
    try:
        modules = report(folder, memory_space=0, top=0).get("modules", [])
    except HbmviewError:  # the compiler had not come as far
        return None
    totals = [int(space["total_allocation_bytes"]) for one in modules for space in one["memory_spaces"]]
    return max(totals, default=None)
