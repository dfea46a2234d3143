"""The four questions: what the commands report, explain, diff and advise answer, with their options."""

from __future__ import annotations

import traceback
from typing import Any, Optional, Sequence, Union

from ._document import Document
from ._run import PathLike, flags, place

Size = Union[str, int]  # "16GiB", "v5e", 17179869184


def report(
    path: PathLike,
    by: Optional[str] = None,
    *,
    session: Optional[str] = None,
    module: Optional[str] = None,
    memory_space: Optional[Union[str, int]] = None,
    step: Optional[int] = None,
    weight: Optional[str] = None,
    frameworks: Union[str, Sequence[str], None] = None,
    top: Optional[int] = None,
    tool: Optional[str] = None,
    host: Optional[str] = None,
    memory_id: Optional[Union[str, int]] = None,
    trend: bool = False,
    max_growth: Optional[Size] = None,
    fail_over: Optional[Size] = None,
    of: Optional[str] = None,
    **more: Any,
) -> Document:
    """What the programs under `path` need: `hbmview report PATH`, whose options these are.

    `by` is source, stack, scope, argument, phase, category, dtype, shape or opcode; `top` cuts buffers and groups;
    `tool` is "memory_profile" or "device_memory" for what was measured. Raises CheckFailed where `fail_over` or
    `max_growth` says so, ReadError where nothing can be read. `more` are further flags (disk_cache="/tmp/kept").
    """
    options = flags(
        by=by, session=session, module=module, memory_space=memory_space, step=step, weight=weight,
        frameworks=frameworks, top=top, tool=tool, host=host, memory_id=memory_id, trend=trend, max_growth=max_growth,
        fail_over=fail_over, of=of, **more,
    )
    return Document.of(["report", place(path), *options])


def explain(
    problem: Union[str, bytes, BaseException],
    logdir: Optional[PathLike] = None,
    *,
    session: Optional[str] = None,
    module: Optional[str] = None,
    capacity: Optional[Size] = None,
    **more: Any,
) -> Document:
    """Why did it run out of memory, and what to change: `hbmview explain`.

    `problem` is an exception (with those that it came from), or text: a log, a traceback or just the message. `logdir`
    is where profiles or XLA dumps of the program are; then its buffers are named, with their source lines. Raises
    CheckFailed where there is no out-of-memory message in it.
    """
    options = flags(logdir=logdir, session=session, module=module, capacity=capacity, **more)
    return Document.of(["explain", "-", *options], _text_of(problem))


def diff(
    a: PathLike,
    b: PathLike,
    by: Optional[str] = None,
    *,
    module: Optional[str] = None,
    module_b: Optional[str] = None,
    session: Optional[str] = None,
    session_b: Optional[str] = None,
    memory_space: Optional[Union[str, int]] = None,
    frameworks: Union[str, Sequence[str], None] = None,
    top: Optional[int] = None,
    fail_above: Optional[Size] = None,
    of: Optional[str] = None,
    **more: Any,
) -> Document:
    """What changed from the program in `a` to that in `b`, by line and by buffer: `hbmview diff A B`."""
    options = flags(
        by=by, module=module, module_b=module_b, session=session, session_b=session_b, memory_space=memory_space,
        frameworks=frameworks, top=top, fail_above=fail_above, of=of, **more,
    )
    return Document.of(["diff", place(a), place(b), *options])


def advise(
    path: PathLike,
    *,
    capacity: Optional[Size] = None,
    session: Optional[str] = None,
    module: Optional[str] = None,
    batch: Optional[int] = None,
    sequence: Optional[int] = None,
    ways: Optional[int] = None,
    **more: Any,
) -> Document:
    """What each change to the program would save, and with `capacity` those that together fit: `hbmview advise`."""
    options = flags(
        capacity=capacity, session=session, module=module, batch=batch, sequence=sequence, ways=ways, **more
    )
    return Document.of(["advise", place(path), *options])


def _text_of(problem: Union[str, bytes, BaseException]) -> bytes:
    if isinstance(problem, bytes):
        return problem
    if isinstance(problem, str):
        return problem.encode("utf-8", "replace")
    return "".join(traceback.format_exception(type(problem), problem, problem.__traceback__)).encode("utf-8", "replace")
