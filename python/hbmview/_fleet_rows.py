"""The rows of one session: what `hbmview report` says of it, flat, so that sessions by the thousand make one table.

    report --by=source ──> program    one a program and memory space: its peak, and what it is made of
                           line       one a line of your program that holds memory at that peak
                           argument   one an argument: its bytes, whether it is donated, whether it could be
                           failure    one a file, or program, that could not be read: where, and why
                    ... ──> session   one a session, always, the last: its state, and how many programs it has

Every row has every column of COLUMNS, None where it has nothing to say. Nothing here knows an engine or Parquet.
"""

from __future__ import annotations

import datetime
import json
import signal
import subprocess
import time
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ._run import Answer, run

Row = Dict[str, Any]

# Name, type, and what it says. A new column goes to the end.
COLUMNS: Tuple[Tuple[str, str, str], ...] = (
    ("kind", "string", "what the row is about: program, line, argument, memory, arrays, failure or session"),
    ("session", "string", "the session's name"),
    ("run", "string", "the folders before the last part of that name: runs of one model lie together"),
    ("path", "string", "where it is; hbmview opens it"),
    ("version", "string", "changes when a file of the session does"),
    ("date", "string", "of the session; the partition, so not in the files themselves"),
    ("time", "timestamp", "of the session, as its name says, else of its last change"),
    ("host", "string", "whose file it is in"),
    ("program", "string", "jit_train_step"),
    ("module", "string", "jit_train_step(1)"),
    ("program_id", "string", "the 1 of it"),
    ("memory_space", "string", "HBM, VMEM, Host, ...; of kind memory the allocator, of kind arrays the device"),
    ("key", "string", "line: train.py:55; argument: params['w']; failure: the file"),
    ("size_bytes", "int64", "of line, argument, arrays"),
    ("padding_bytes", "int64", "how much of them, or of the program's peak, is padding"),
    ("buffers", "int64", "how many buffers these are"),
    ("is_donated", "bool", "argument: an output takes its place"),
    ("is_donatable", "bool", "argument: it is not, and an output of its shape has bytes of its own"),
    ("peak_bytes", "int64", "program, memory"),
    ("total_bytes", "int64", "program: all allocations of the memory space"),
    ("argument_bytes", "int64", "of the total: arguments that are not donated"),
    ("donated_bytes", "int64", "... arguments that are"),
    ("output_bytes", "int64", "... outputs with bytes of their own"),
    ("constant_bytes", "int64", "... constants"),
    ("temporary_bytes", "int64", "... what is made and dropped"),
    ("fragmentation_bytes", "int64", "... what lies between"),
    ("capacity_bytes", "int64", "memory: of the device, as far as the allocator tells"),
    ("leaks", "bool", "memory: something grows in each step"),
    ("state", "string", "session: read, partial (failures beside), empty (no programs), failed (nothing else)"),
    ("reason", "string", "failure and session: the sentence"),
    ("offset", "int64", "failure: of the byte in the file"),
    ("programs", "int64", "session: how many"),
    ("seconds", "float64", "session: how long reading it took"),
    ("asked", "string", "session: the reports that were made"),
)

_FIGURES = {
    "peak_bytes": "peak_bytes",
    "total_bytes": "total_allocation_bytes",
    "argument_bytes": "parameter_bytes",
    "donated_bytes": "aliased_bytes",
    "output_bytes": "output_bytes",
    "constant_bytes": "constant_bytes",
    "temporary_bytes": "temporary_bytes",
    "fragmentation_bytes": "fragmentation_bytes",
    "padding_bytes": "padding_bytes",
}


class Session(NamedTuple):
    """A session as a list tells it (`hbmview report LOGDIR --sessions`)."""

    name: str
    path: str
    version: str
    date: str
    time_s: int


class Settings(NamedTuple):
    """What is asked of each session."""

    memory_profile: bool = False
    frameworks: Optional[str] = None
    timeout_s: float = 600.0

    @property
    def reports(self) -> List[List[str]]:
        by = ["--by=source"] + ([f"--frameworks={self.frameworks}"] if self.frameworks else [])
        return [by] + ([["--tool=memory_profile", "--top=0"]] if self.memory_profile else [])

    @property
    def asked(self) -> str:
        """The same as a text: rows that were asked otherwise are no answer to this."""
        return "; ".join("report " + " ".join(flags) for flags in self.reports)


def rows_of_session(session: Session, settings: Settings) -> Iterator[Row]:
    """All rows of the session. A session that cannot be read is rows as well: nothing is raised for it."""
    begin = time.monotonic()
    rows: List[Row] = []
    failures: List[Row] = []
    for flags in settings.reports:
        document, wrong = _report(session, flags, settings.timeout_s)
        rows += rows_of_report(document)
        failures += [failure for failure in wrong if failure not in failures]
    yield from (_row(session, **row) for row in rows)
    yield from (_row(session, kind="failure", **failure) for failure in failures)
    programs = {(row["host"], row["module"]) for row in rows if row["kind"] == "program"}
    state = ("partial" if rows else "failed") if failures else ("read" if rows else "empty")
    yield _row(
        session,
        kind="session",
        state=state,
        reason=_of_all(failures),
        programs=len(programs),
        seconds=round(time.monotonic() - begin, 3),
        asked=settings.asked,
    )


def rows_of_report(document: Dict[str, Any]) -> Iterator[Row]:
    """What one report says, whichever it is; without what is the session's own."""
    for module in document.get("modules", ()):
        for space in module["memory_spaces"]:
            yield from _of_program(module, space)
    for session in document.get("sessions", ()):
        for host in session["hosts"]:
            yield from (_of_memory(host["host"], memory) for memory in host["memories"])
    for profile in document.get("device_memory", ()):
        yield from (_of_arrays(profile, group) for group in profile["groups"])


def row_schema() -> Tuple[Tuple[str, str], ...]:
    return tuple((name, kind) for name, kind, _ in COLUMNS)


def _row(session: Session, **values: Any) -> Row:
    row: Row = dict.fromkeys(name for name, _, _ in COLUMNS)
    row.update(values)
    row.update(
        session=session.name,
        run=session.name.rpartition("/")[0],
        path=session.path,
        version=session.version,
        date=session.date,
        time=datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=session.time_s),
    )
    return row


def _of_program(module: Dict[str, Any], space: Dict[str, Any]) -> Iterator[Row]:
    number = module["program_id"]
    common = {
        "host": module["host"],
        "module": module["module"],
        "program": module["module"].removesuffix(f"({number})"),
        "program_id": None if number is None else str(number),
        "memory_space": space["name"],
    }
    yield {"kind": "program", **common, **{column: space[figure] for column, figure in _FIGURES.items()}}
    for group in (space.get("groups") or {}).get("rows", ()):
        sizes = {name: group[name] for name in ("size_bytes", "padding_bytes", "buffers")}
        yield {"kind": "line", **common, "key": group["key"], **sizes}
    yield from ({"kind": "argument", **common, **argument} for argument in _arguments(space["buffers_at_peak"]))


def _arguments(buffers: Sequence[Dict[str, Any]]) -> Iterator[Row]:
    """Arguments live from the first step to the last, and so do outputs: all of them are among what is at the peak."""
    outputs = {_shape(buffer) for buffer in buffers if buffer["category"] == "output"}
    for buffer in buffers:
        if buffer["category"] not in ("parameter", "donated"):
            continue
        is_donated = buffer["category"] == "donated"
        yield {
            "key": buffer["op_name"] or buffer["name"],
            "size_bytes": buffer["size_bytes"],
            "padding_bytes": buffer["size_bytes"] - buffer["unpadded_bytes"],
            "buffers": 1,
            "is_donated": is_donated,
            "is_donatable": not is_donated and _shape(buffer) in outputs,
        }


def _shape(buffer: Dict[str, Any]) -> str:
    """Type and dimensions, without the layout: f32[8,128]."""
    return str(buffer["shape"]).partition("{")[0]


def _of_memory(host: str, memory: Dict[str, Any]) -> Row:
    overview = memory["overview"]
    return {
        "kind": "memory",
        "host": host,
        "memory_space": memory["memory_id"],
        "peak_bytes": overview["peak_bytes"],
        "capacity_bytes": overview["capacity_bytes"],
        "leaks": (memory.get("verdict") or {}).get("leaks"),
    }


def _of_arrays(profile: Dict[str, Any], group: Dict[str, Any]) -> Row:
    return {
        "kind": "arrays",
        "key": f"{profile['file']}: {group['kind']}",
        "memory_space": group["device"],
        "size_bytes": group["bytes"],
        "buffers": group["count"],
    }


# --- What goes wrong ---


def _report(session: Session, flags: Sequence[str], timeout_s: float) -> Tuple[Dict[str, Any], List[Row]]:
    """The document, as far as there is one, and its failures."""
    try:
        answer = run(["report", session.path, *flags, "--format=json"], timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return {}, [_failure(session.path, f"not read within {timeout_s:g} s (timeout_s)")]
    try:
        document = json.loads(answer.output)
    except ValueError:
        return {}, [_failure(session.path, _end_of(answer))]
    errors = [_failure(e["file"] or session.path, e["message"], e["offset"]) for e in document["errors"]]
    if answer.exit_code and not errors:
        errors = [_failure(session.path, _end_of(answer))]
    return document, errors


def _failure(file: str, reason: str, offset: Optional[int] = None) -> Row:
    return {"key": file, "reason": reason, "offset": offset}


def _end_of(answer: Answer) -> str:
    """In words, how a program ended that answered nothing, or not all."""
    code, said = answer.exit_code, answer.complaint.strip()
    if code >= 0:
        return said or f"hbmview ended with {code} and said nothing"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    killed = " (nobody but the system's memory killer, or a person, does that)" if name == "SIGKILL" else ""
    return f"hbmview was ended by {name}{killed}" + (f": {said}" if said else "")


def _of_all(failures: Sequence[Row]) -> Optional[str]:
    if not failures:
        return None
    first = f"{failures[0]['key']}: {failures[0]['reason']}"
    return first if len(failures) == 1 else f"{first} (and {len(failures) - 1} more: kind = 'failure')"
