"""Who does the tasks of a fleet: Ray Data, or this process.

    tasks ──> engine ──> what became of each, in the order in which they end

A task is some sessions of one day, read side by side (what takes time is mostly the bucket's answer), and one part of
the table. It may be done twice, and half: parts are whole, and called the same each time (_fleet_parts).
"""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

from ._fleet_parts import Parts
from ._fleet_rows import Session, Settings, rows_of_session


class Task(NamedTuple):
    part: str
    sessions: List[Session]


class Work(NamedTuple):
    """What every task is told."""

    out: str
    settings: Settings
    at_once: int


Done = Dict[str, Any]  # part, rows, and the number of sessions by state


def do_task(task: Task, work: Work) -> Done:
    read = functools.partial(_rows, settings=work.settings)
    with ThreadPoolExecutor(min(work.at_once, len(task.sessions))) as pool:
        rows = [row for session in pool.map(read, task.sessions) for row in session]
    states = [row["state"] for row in rows if row["kind"] == "session"]
    written = Parts(work.out).write(task.part, rows)
    return {"part": task.part, "rows": written, **{state: states.count(state) for state in STATES}}


STATES = ("read", "partial", "empty", "failed")


def _rows(session: Session, settings: Settings) -> List[Dict[str, Any]]:
    return list(rows_of_session(session, settings))


def here(tasks: Iterable[Task], work: Work, address: Optional[str] = None) -> Iterator[Done]:
    """One task after the other, in this process."""
    return (do_task(task, work) for task in tasks)


def on_ray(tasks: Iterable[Task], work: Work, address: Optional[str] = None) -> Iterator[Done]:
    """On the cluster that this process is connected to, else that of `address` (or $RAY_ADDRESS), else this machine."""
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ImportError("the engine is Ray Data: pip install 'hbmview[fleet]'; or engine='here'") from error
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=None if address else False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = [{"part": task.part, "sessions": [list(session) for session in task.sessions]} for task in tasks]
    if not rows:
        return
    # A block a task: what a machine loses when it dies is what it was doing, and Ray gives that to another.
    dataset = ray.data.from_items(rows, override_num_blocks=len(rows))
    yield from dataset.map(_do_row, fn_kwargs={"work": tuple(work)}).iter_rows()


def _do_row(row: Dict[str, Any], work: Any) -> Done:
    out, settings, at_once = work
    sessions = [Session(*(*rest, int(time_s))) for *rest, time_s in row["sessions"]]
    return do_task(Task(row["part"], sessions), Work(out, Settings(*settings), at_once))


ENGINES: Dict[str, Callable[..., Iterator[Done]]] = {"ray": on_ray, "here": here}
