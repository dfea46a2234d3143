"""Variants of a step, compiled: the compiler's truth beside what was predicted for the first of them.

    {"base": (step, ...), "remat": (step_with_remat, ...)}
         |                        |
      compile                  compile          one folder each, below one log directory
         |                        |
      advise: 4.92 GiB         5.05 GiB         Row: predicted, low, high, total
         +--------- diff ---------+             Row.changes: the lines that differ most

The log directory is what the page opens: each variant is a session of it, and the tool Compare sets two side by side.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import urlencode

from . import comparison_table
from .compiling import Positions, Step
from .folders import KeptFolder, dump_folder, session_name
from .levers import lever_of
from .reading import Asked, result_of
from .result import Advice, FitResult
from .targets import FitError, Target
from .telling import told
from .._document import Document
from .._questions import diff
from .._run import HbmviewError


@dataclass(frozen=True)
class Change:
    """A line of the user's program whose bytes at the peak differ from the first variant's."""

    key: str
    before: int
    after: int


@dataclass(frozen=True)
class Row:
    """A variant. What was predicted is there where the first one's advice foretold this change."""

    name: str
    session: str                       # its folder below the log directory
    result: Optional[FitResult]
    failure: str                       # why there is no result, else ""
    lever: Optional[str] = None        # the advice that the variant follows
    predicted: Optional[Advice] = None
    delta: Optional[int] = None        # of the totals, against the first variant
    changes: List[Change] = dataclasses.field(default_factory=list)
    difference: Optional[Document] = dataclasses.field(default=None, repr=False)  # of hbmview.diff

    @property
    def off_percent(self) -> Optional[float]:
        """By how much the prediction is off the compiler's truth."""
        if self.predicted is None or self.result is None or not self.result.total:
            return None
        return 100 * (self.predicted.predicted - self.result.total) / self.result.total

    @property
    def is_inside(self) -> Optional[bool]:
        """Whether the truth is in the range that was predicted."""
        if self.predicted is None or self.result is None or self.result.total is None:
            return None
        return self.predicted.low <= self.result.total <= self.predicted.high


@dataclass(frozen=True)
class Comparison:
    """All variants, in the order they were given; the first is what the others are compared with."""

    target: str
    rows: List[Row]
    logdir: str
    _kept: Optional[KeptFolder] = dataclasses.field(default=None, repr=False, compare=False)

    def __getitem__(self, name: str) -> FitResult:
        """The result of a variant. Raises KeyError, or FitError where it could not be compiled."""
        for row in self.rows:
            if row.name == name and row.result is not None:
                return row.result
            if row.name == name:
                raise FitError(row.failure)
        raise KeyError(name)

    def link(self, name: str) -> str:
        """The query of the page's tool Compare, from the first variant to this one: behind a server's address."""
        before, after = self.rows[0], next(row for row in self.rows if row.name == name)
        modules = {"module_name": before.result.module if before.result else None,
                   "module_b": after.result.module if after.result else None}
        known = {key: value for key, value in modules.items() if value}
        return "?" + urlencode({"tag": "compare", "run": before.session, "run_b": after.session, **known})

    def as_dict(self) -> Dict[str, Any]:
        """As JSON: every figure of the table, and the results whole."""
        return {"target": self.target, "logdir": self.logdir, "variants": [_as_dict(row) for row in self.rows]}

    def __str__(self) -> str:
        return comparison_table.text(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self).rstrip())

    def _repr_html_(self) -> str:
        return comparison_table.markup(self)


def _as_dict(row: Row) -> Dict[str, Any]:
    return {
        "name": row.name, "session": row.session, "failure": row.failure, "lever": row.lever, "delta": row.delta,
        "predicted": None if row.predicted is None else dataclasses.asdict(row.predicted),
        "off_percent": row.off_percent, "is_inside": row.is_inside,
        "changes": [dataclasses.asdict(one) for one in row.changes],
        "result": None if row.result is None else row.result.as_dict(),
    }


# --- Compiling them ---

def compare_steps(variants: Mapping[str, Any], target: Target, donate_argnums: Positions, asked: Asked,
                  logdir: Optional[str], always_tells: bool = False) -> Comparison:
    """Compiles every variant. The first must compile (or run out of memory): without it there is nothing to compare."""
    if not variants:
        raise FitError('compare takes variants: {"base": (step, *args), "remat": (other_step, *args)}', exit_code=2)
    steps = {name: _step_of(name, value, donate_argnums) for name, value in variants.items()}
    kept, folder = dump_folder(logdir)
    rows: List[Row] = []
    for name, step in steps.items():
        session = session_name(name, [row.session for row in rows])
        row = _compiled_row(name, step, target, asked, os.path.join(folder, session), always_tells)
        rows.append(_beside(rows[0], row, step) if rows else _first(row))
    return Comparison(target.name, rows, folder, kept)


def _step_of(name: str, value: Any, donate_argnums: Positions) -> Step:
    step = value
    if isinstance(value, (tuple, list)) and value and callable(value[0]):
        step = Step(value[0], value[1:])
    if not isinstance(step, Step):
        raise FitError(f'the variant "{name}" is neither a tuple (fn, *args) nor fit.lazily(fn, *args)', exit_code=2)
    return step if step.donate_argnums is not None else dataclasses.replace(step, donate_argnums=donate_argnums)


def _compiled_row(name: str, step: Step, target: Target, asked: Asked, folder: str, always_tells: bool) -> Row:
    session = os.path.basename(folder)
    try:
        left = told(step, target, folder, name, always_tells)
        return Row(name, session, result_of(step, target, left, asked), "")
    except FitError as error:
        return Row(name, session, None, str(error))


def _first(row: Row) -> Row:
    if row.result is None:
        raise FitError(f'the first variant, "{row.name}", is what the others are compared with: {row.failure}')
    return row


def _beside(base: Row, row: Row, step: Step) -> Row:
    """The row with what the first variant's advice foretold of it, and what really changed."""
    foretold = {one.id: one for one in base.result.advice} if base.result else {}
    lever = step.lever or lever_of(row.name, foretold)
    row = dataclasses.replace(row, lever=lever, predicted=foretold.get(lever or ""))
    before, after = base.result, row.result
    if not before or not after or before.total is None or after.total is None:
        return row
    row = dataclasses.replace(row, delta=after.total - before.total)
    try:
        difference = diff(before.dump, after.dump, module=before.module, module_b=after.module)
    except HbmviewError:  # the totals stand without it
        return row
    changes = [Change(one["key"], one["a_bytes"], one["b_bytes"]) for one in difference["groups"]["rows"][:3]]
    return dataclasses.replace(row, changes=changes, difference=difference)
