"""What the compiler says to the advice: `hbmview.check` changes the program itself and compiles it, where no source is.

    checked = hbmview.check("/tmp/dump")              predicted beside compiled, what can be changed in the program
    checked = hbmview.check("/tmp/dump", flags=True)  the program as it is, by one XLA flag after the other

    sources      the program as it was before the compiler changed it: a file of XLA's dump
    raw_program  that file as XLA compiles it       jax, what is not public of it
    change       donations, types of parameters     jax
    worker       one compile, in a process of its own
    compiling    starts it, reads its dump          -> Outcome
    flags        which options of XLA's are tried
    rows         predicted beside compiled, in words
    telling      how far it is, to a page           page: the POST

No chip is needed, and nothing runs. jax is imported by the worker only.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional

from . import flags as xla
from .compiling import TIME_LIMIT, Outcome, Variant, outcome_of
from .page import page_of
from .rows import Row, change_row, check_table, flags_table, options_row
from .sources import Source, source_of
from .telling import Telling
from .._document import Document
from .._fit import words
from .._fit.targets import FitError
from .._questions import Size, advise
from .._run import PathLike, UsageError, place

__all__ = ["Checked", "check"]

_IN_MODULE = ("donate_inputs", "bf16_parameters")
_UNTOLD = {"predicted_total_bytes": None, "low_bytes": None, "high_bytes": None}
_SAME_PERCENT = 1.0  # less than versions of one compiler differ by
_ELSEWHERE = "changed in the source, not in the compiled program; hbmview.fit.compare compiles both"


class Checked(Document):
    """The document of `hbmview advise`, with "check" (and "flags"): docs/advice.md says what is in them."""

    def told(self, advice: Document, lines: List[str]) -> Checked:
        """Keeps its words."""
        self._advice, self._lines = advice, lines
        return self

    def _in_words(self, format: str) -> str:
        table = "\n".join(self._lines) + "\n"
        if format == "markdown":
            return f"{self._advice.markdown()}\n## Asked of the compiler\n\n```\n{table}```\n"
        return f"{self._advice.text()}\n{table}"

    def __reduce__(self) -> Any:
        return (_again, (dict(self), self._advice, self._lines))


def _again(members: Dict[str, Any], advice: Document, lines: List[str]) -> Checked:
    return Checked(members).told(advice, lines)


def check(
    path: PathLike,
    *,
    flags: bool = False,
    capacity: Optional[Size] = None,
    session: Optional[str] = None,
    module: Optional[str] = None,
    batch: Optional[int] = None,
    ways: Optional[int] = None,
    topology: Optional[str] = None,
    hlo: Optional[PathLike] = None,
    page: Optional[str] = None,
    token_file: Optional[PathLike] = None,
    time_limit: float = TIME_LIMIT,
    progress: Optional[Callable[[str], None]] = None,
    **more: Any,
) -> Checked:
    """Asks the compiler what changes to the program in `path` bring, beside what `hbmview.advise` predicts.

    `path` is a dump of XLA's that has the program as it was before the compiler changed it; for a profile `hlo` names
    that file, or the folder of the dump. `topology` is what is compiled for, as in `hbmview.fit`. `flags` tries options
    of XLA's instead. `page` is the address of an open page (`Server.url`), which shows how far it is and what comes
    out; a token that the address does not have is in `token_file`, or HBMVIEW_TOKEN. A compile that takes longer than
    `time_limit` seconds is a row that failed. `progress` is told a line for each compile. Raises HbmviewError where
    nothing can be compiled: jax or libtpu is not here, or there is no such file.
    """
    named: Dict[str, Any] = {"session": session, "module": module, "batch": batch, "ways": ways, **more}
    with Telling(page_of(page, token_file) if page else None, "flags" if flags else "changes") as telling:
        telling.asked_for(session, module)
        advice = advise(path, capacity=capacity, **named)
        telling.of(advice.get("session"), advice["module"])
        changes = advise(path, capacity=capacity, **{**named, "top": None}) if named.get("top") is not None else advice
        told = None if hlo is None else os.fspath(hlo)
        source = source_of(place(path), advice.get("session") or "", advice["module"], told)
        how = _How(topology or source.backend, time_limit, progress or _quiet, telling)
        asking = _Asking(advice, changes["interventions"], source, how)
        return asking.answer(flags, lambda kind: _usable(path, kind, named))


class _How(NamedTuple):
    topology: Optional[str]
    time_limit: float
    progress: Callable[[str], None]
    telling: Telling


class _Asking:
    """One program, compiled again and again; `changes` is all of the advice, of which the answer may show fewer."""

    def __init__(self, advice: Document, changes: List[Document], source: Source, how: _How) -> None:
        self.advice, self.changes, self.source, self.how = advice, changes, source, how

    def answer(self, wants_flags: bool, usable: Callable[[str], Optional[int]]) -> Checked:
        limits = [] if wants_flags else self._limits(usable)
        self.how.telling.begin(self._target(), 1 + (self._count_flags() if wants_flags else self._count(len(limits))))
        now = self.how.telling.row(self._as_it_is())
        told = self._flags(now) if wants_flags else self._rows(limits)
        others = [self.how.telling.row(row) for row in told]
        return self._document(now, [now], others) if wants_flags else self._document(now, [now, *others], [])

    def _rows(self, limits: List[xla.Limit]) -> Iterator[Row]:
        yield from self._changes()
        yield from self._together()
        yield from (self._within(one) for one in limits)

    def _count(self, limits: int) -> int:
        """Of what is compiled: each change, all of them at once, the limits."""
        alone = sum(1 for one in self.changes if _is_compiled(one))
        return alone + (len(self._parts()) > 1) + limits

    def _count_flags(self) -> int:
        return len(xla.tried(self.source.backend))

    def _document(self, now: Row, rows: List[Row], tried: List[Row]) -> Checked:
        by = {"source": self.source.path, "target": self._target(), "versions": now.outcome.versions}
        more = {"flags": [one.as_dict() for one in tried]} if tried else {}
        made = Checked({**self.advice, "check": [row.as_dict() for row in rows], "check_by": by, **more})
        tables = [flags_table([now, *tried], now.outcome.total)] if tried else [check_table(rows)]
        return made.told(self.advice, [*self._heading(now), "", *tables[0]])

    def _as_it_is(self) -> Row:
        """What stands in the dump beside what this compiler makes of the same program: whether it is the same one."""
        outcome = self._outcome("as it is", Variant())
        if outcome.status == "failed":
            file = os.path.basename(self.source.path)
            raise FitError(outcome.reason if outcome.exit_code else f"{file} could not be compiled: {outcome.reason}",
                           exit_code=outcome.exit_code or 3)
        return Row("as_it_is", "as it is", self.advice["total_bytes"], None, None, outcome)

    def _changes(self) -> Iterator[Row]:
        for one in self.changes:
            if _is_compiled(one):
                yield change_row(one, self._outcome(one["name"], Variant([one["id"]])))
            elif one["applies"]:
                yield change_row(one, Outcome("not_in_module", _ELSEWHERE))

    def _flags(self, now: Row) -> Iterator[Row]:
        """One by one, and at the end those together that help."""
        rows = []
        for one in xla.tried(self.source.backend):
            rows.append(self._options(one))
            yield rows[-1]
        best = xla.together([(row.options, row.outcome.total) for row in rows], now.outcome.total)
        if best:
            self.how.telling.one_more()
            yield self._options(best, "together", "those that help, together")

    def _parts(self) -> List[Document]:
        return [one for one in self.changes if one["id"] in _IN_MODULE and one["applies"]]

    def _together(self) -> List[Row]:
        """What can be changed in the program, all at once; foretold where a plan or a chain is of just these."""
        parts = self._parts()
        ids = [one["id"] for one in parts]
        if len(parts) < 2:
            return []
        sets = [self.advice.get("plan"), *self.advice.get("alternatives", []), *self.advice.get("chains", [])]
        told = next((one for one in sets if one and sorted(one["interventions"]) == sorted(ids)), _UNTOLD)
        name = " and ".join(one["name"] for one in parts)
        return [change_row({**told, "id": "+".join(ids), "name": name}, self._outcome(name, Variant(ids)))]

    def _limits(self, usable: Callable[[str], Optional[int]]) -> List[xla.Limit]:
        """What the compiler does by itself when it may use less: it rematerializes and offloads."""
        backend = self.source.backend
        wanted: Optional[int] = self.advice.get("capacity_bytes")
        is_known = wanted and backend is None
        return xla.limits(wanted, usable(self._target().split(":")[0]) if is_known else None, backend)

    def _within(self, one: xla.Limit) -> Row:
        row = self._options(one.options, one.id, one.name)
        wanted: Optional[int] = self.advice.get("capacity_bytes")
        return _within(row, wanted) if wanted and row.id == xla.MEMORY_LIMIT else row

    def _options(self, options: Dict[str, Any], id: str = "", name: str = "") -> Row:
        row = options_row(options, Outcome("failed"), id, name)
        return options_row(options, self._outcome(row.name, Variant(options=options)), id, name)

    def _outcome(self, name: str, variant: Variant) -> Outcome:
        self.how.progress(f"compiling {self.advice['module']} {name} for {self._target()}")
        self.how.telling.compiling(name)
        outcome = outcome_of(self.source.path, self._target(), variant, self.how.time_limit)
        self.how.telling.compiled(outcome.versions)
        return outcome

    def _target(self) -> str:
        return self.how.topology or "v5e:2x2"

    def _heading(self, now: Row) -> List[str]:
        made_by = ", ".join(f"{name} {version}" for name, version in now.outcome.versions.items())
        lines = [f"Asked of the compiler ({made_by}; {self._target()}), of {os.path.basename(self.source.path)}:"]
        if abs(now.error_percent or 0) > _SAME_PERCENT:
            lines.append(f"The profile's own program takes {words.size(now.predicted)}: it was compiled by another "
                         "version, for another chip (--topology) or with other flags (XLA_FLAGS, LIBTPU_INIT_ARGS).")
        return lines


def _is_compiled(one: Document) -> bool:
    return one["id"] in _IN_MODULE and (one["applies"] or one["predicted_total_bytes"] is None)


def _within(row: Row, capacity: int) -> Row:
    """Inputs and outputs are not the compiler's to make smaller: a limit that they pass is no error to it."""
    if row.outcome.status != "compiled" or not row.outcome.total or row.outcome.total <= capacity:
        return row
    return dataclasses.replace(row, outcome=dataclasses.replace(row.outcome, status="too_big"))


def _usable(path: PathLike, kind: str, named: Dict[str, Any]) -> Optional[int]:
    """What a program may use of a chip, by the program's table of devices."""
    try:
        return int(advise(path, capacity=kind, **named)["capacity_bytes"])
    except UsageError:  # a chip that it does not know
        return None


def _quiet(line: str) -> None:
    pass


def progress_on_stderr(line: str) -> None:
    """For whoever waits."""
    print(f"hbmview: {line} ...", file=sys.stderr, flush=True)
