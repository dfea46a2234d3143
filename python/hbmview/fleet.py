"""What a whole bucket of sessions holds, as one table.

    hbmview.fleet.run("s3://bucket/runs", "s3://bucket/memory")     on Ray Data, a cluster's or this machine's
    python -m hbmview fleet s3://bucket/runs --out /data/memory     the same

    duckdb -c "SELECT state, count(*) FROM '/data/memory/**/*.parquet' WHERE kind = 'session' GROUP BY ALL"

    report LOGDIR --sessions ─> those not there yet ─> tasks ─> report SESSION ─> parts of the table
                                by path and version    by day   each by ranges    Parquet, by date

Nothing is lost: a session that cannot be read is rows with the reason. Nothing is there twice: parts appear whole, and
a session that is read again takes the place of what was there. A run that was stopped is run again, and goes on.
docs/fleet.md tells the columns and has queries. `rows_of` is the same for other engines (Beam, Spark, Dask).
"""

from __future__ import annotations

import datetime
import itertools
import math
import os
import time
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, TextIO, Tuple, Union

from ._fleet_engines import ENGINES, STATES, Done, Task, Work
from ._fleet_parts import Parts, Present, part_name, table_schema
from ._fleet_rows import COLUMNS, Row, Session, Settings, rows_of_session
from ._run import ask

__all__ = ["COLUMNS", "Fleet", "IncompleteFleet", "Row", "Session", "listed", "rows_of", "run", "table_schema"]

SESSIONS_PER_TASK = 32
AT_ONCE = 4
TIMEOUT_S = 600.0
_PROGRESS_S = 5.0


class Fleet(NamedTuple):
    """What a run did. `read` to `failed` are sessions; `kept` those that were there already, as they are."""

    out: str
    sessions: int
    kept: int
    read: int
    partial: int
    empty: int
    failed: int
    rows: int
    seconds: float
    pending: int
    left_out: List[str]

    @property
    def per_second(self) -> float:
        return (self.sessions - self.kept) / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        states = ", ".join(f"{getattr(self, state)} {state}" for state in STATES if getattr(self, state))
        done = self.sessions - self.kept
        return (
            f"{self.sessions} sessions: {self.kept} there already, {done} read now"
            + (f" ({states}; {self.rows} rows, {self.per_second:.1f} sessions/s)" if done else "")
            + (f"; {self.pending} still being written, for a later run" if self.pending else "")
            + f"; the table is {self.out}"
        )


class IncompleteFleet(RuntimeError):
    """The engine gave up before the end. What was read is there; the same call goes on from it."""


def listed(logdir: Union[str, "os.PathLike[str]"]) -> List[Session]:
    """The sessions of a log directory or bucket. No session is opened for it."""
    return _sessions_of(_list(logdir))


def rows_of(
    session: Union[str, Session],
    *,
    memory_profile: bool = False,
    frameworks: Optional[str] = None,
    timeout_s: float = TIMEOUT_S,
) -> Iterator[Row]:
    """The rows of a session, or of every session of a path: a function to map with, in whatever engine.

    Never raises for a session that cannot be read: that is rows as well, with the reason.
    memory_profile: a second report of each, for the peaks of allocators. frameworks: whose files are not your lines.
    """
    settings = Settings(memory_profile, frameworks, timeout_s)
    for one in [session] if isinstance(session, tuple) else listed(session):
        yield from rows_of_session(Session(*one), settings)


def run(
    logdir: Union[str, "os.PathLike[str]"],
    out: Union[str, "os.PathLike[str]"],
    *,
    engine: str = "ray",
    address: Optional[str] = None,
    sessions_per_task: int = SESSIONS_PER_TASK,
    at_once: int = AT_ONCE,
    memory_profile: bool = False,
    frameworks: Optional[str] = None,
    timeout_s: float = TIMEOUT_S,
    progress: Optional[TextIO] = None,
) -> Fleet:
    """Reads the sessions of `logdir` that are not in the table `out` yet, or have changed since, into it.

    engine: "ray", or "here" (this process alone). address: of a Ray cluster ("auto", "ray://host:10001").
    at_once: sessions that a task reads side by side. timeout_s: for each report. progress: a stream, for a line now
    and then. The others are those of `rows_of`. Raises IncompleteFleet where the engine gave up before the end.
    """
    work = Work(_place(out), Settings(memory_profile, frameworks, timeout_s), at_once)
    found, begin = _list(logdir), time.monotonic()
    sessions, parts = _sessions_of(found), Parts(work.out)
    is_good = _judge(sessions, work.settings)
    there = {session.path for session in parts.present() if is_good(session)}
    todo = [session for session in sessions if session.path not in there]
    tally = _Tally(len(todo), progress)
    lost = None
    try:
        for done in ENGINES[engine](_tasks(todo, sessions_per_task), work, address):
            tally.add(done)
    except Exception as error:  # noqa: BLE001  whatever ends an engine, what was written is put in order first
        lost = error
    parts.tidy(parts.present(), is_good)
    tally.end()
    if lost is not None or tally.done < len(todo):
        left = len(todo) - tally.done
        raise IncompleteFleet(
            f"{left} of {len(todo)} sessions were not read; the same call goes on from here"
        ) from lost
    return Fleet(
        out=work.out, sessions=len(sessions), kept=len(sessions) - len(todo), **tally.by,
        seconds=time.monotonic() - begin, pending=len(found["pending"]),
        left_out=[f"{r['path']}: {r['reason']}" for r in found["left_out"]],
    )


# --- What there is to do ---


def _list(logdir: Union[str, "os.PathLike[str]"]) -> Dict[str, Any]:
    return ask(["report", os.fspath(logdir), "--sessions"])


def _sessions_of(found: Dict[str, Any]) -> List[Session]:
    both = found["sessions"] + found["device_memory"]
    return [Session(s["name"], s["path"], s["version"], s["date"], s["time_s"]) for s in both]


def _place(out: Union[str, "os.PathLike[str]"]) -> str:
    text = os.fspath(out)
    return text if "://" in text else os.path.abspath(text)


def _judge(sessions: Iterable[Session], settings: Settings) -> Callable[[Present], bool]:
    """Whether what is there of a session is all there is to know. What failed, even in part, is tried again: the
    network may be better today. Of a session that is gone from the bucket what is there is all."""
    versions = {session.path: session.version for session in sessions}

    def is_good(present: Present) -> bool:
        is_whole = present.asked == settings.asked and present.state in ("read", "empty")
        return is_whole and present.version == versions.get(present.path, present.version)

    return is_good


def _tasks(sessions: Iterable[Session], per_task: int) -> List[Task]:
    """A part belongs to one day. Many small tasks rather than few large ones keep all machines busy to the end."""
    run_id = f"{datetime.datetime.now(datetime.timezone.utc):%Y%m%dT%H%M%S%f}-{uuid.uuid4().hex[:6]}"
    tasks: List[Task] = []
    for date, of_day in itertools.groupby(sorted(sessions, key=_by_date), key=lambda session: session.date):
        day = list(of_day)
        size = math.ceil(len(day) / math.ceil(len(day) / per_task))
        for begin in range(0, len(day), size):
            tasks.append(Task(part_name(date, run_id, len(tasks)), day[begin:begin + size]))
    return tasks


def _by_date(session: Session) -> Tuple[str, str]:
    return session.date, session.path


# --- How far it is ---


class _Tally:
    """What became of the tasks so far, and a line about it now and then."""

    def __init__(self, todo: int, stream: Optional[TextIO]):
        self.todo, self.stream, self.done = todo, stream, 0
        self.by = dict.fromkeys((*STATES, "rows"), 0)
        self.begin = self.told = time.monotonic()

    def add(self, done: Done) -> None:
        for name in self.by:
            self.by[name] += done[name]
        self.done += sum(done[state] for state in STATES)
        if time.monotonic() - self.told >= (0.2 if self._is_terminal() else _PROGRESS_S):
            self._tell()

    def end(self) -> None:
        if self.stream and self._is_terminal():
            self.stream.write("\r\x1b[K")
            self.stream.flush()

    def _tell(self) -> None:
        self.told = time.monotonic()
        if not self.stream:
            return
        rate = self.done / (self.told - self.begin)
        line = f"{self.done} of {self.todo} sessions, {rate:.0f}/s" + (
            f", {self.by['failed']} failed" if self.by["failed"] else "")
        self.stream.write(f"\r\x1b[K{line}" if self._is_terminal() else f"{line}\n")
        self.stream.flush()

    def _is_terminal(self) -> bool:
        return self.stream is not None and self.stream.isatty()
