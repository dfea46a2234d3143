"""A comparison in words: for a terminal, and as HTML for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Sequence

from . import words

if TYPE_CHECKING:
    from .comparison import Comparison, Row

_TITLES = ("TOTAL", "CHANGE", "FITS", "PREDICTED", "LOW", "HIGH", "OFF", "VARIANT")


def text(comparison: Comparison) -> str:
    """The table, then what changed in each variant."""
    lines = [_heading(comparison), "", *words.table(_TITLES, [_cells(row) for row in comparison.rows])]
    for told in map(_sentences, comparison.rows):
        lines += ["", *told] if told else []
    lines += ["", f"On the page: hbmview --logdir={comparison.logdir}, then Compare."]
    return "\n".join(lines) + "\n"


def markup(comparison: Comparison) -> str:
    """The same for a notebook."""
    parts = [words.paragraph(_heading(comparison), strong=True),
             words.html_table(_TITLES, [_cells(row) for row in comparison.rows])]
    for told in map(_sentences, comparison.rows):
        if told:
            parts.append(words.block("\n".join(told)))
    return "".join(parts)


def _heading(comparison: Comparison) -> str:
    base = comparison.rows[0].result
    against = f" of {words.size(base.capacity)}" if base and base.capacity else ""
    return f"Compiled for {comparison.target}{against}; predicted is what the advice for " \
           f'"{comparison.rows[0].name}" said of the change.'


def _cells(row: Row) -> Sequence[str]:
    result, predicted = row.result, row.predicted
    fits = {True: "yes", False: "no", None: "-"}[result.fits if result else None]
    off = "-" if row.off_percent is None else f"{row.off_percent:+.1f}%{'' if row.is_inside else ' (outside)'}"
    ranges = ["-"] * 3 if predicted is None else map(words.size, (predicted.predicted, predicted.low, predicted.high))
    return [words.size(result.total if result else None), words.delta(row.delta), fits, *ranges, off, row.name]


def _sentences(row: Row) -> List[str]:
    """Why there is no result; or the lines that differ most from the first variant."""
    if row.failure:
        return [f"{row.name}: {row.failure}"]
    if not row.changes:
        return []
    rows = [[words.delta(one.after - one.before), words.size(one.before), words.size(one.after), one.key]
            for one in row.changes]
    titles = ("CHANGE", "BEFORE", "AFTER", "HELD BY")
    return [f"{row.name}, what changed most at the peak:", "", *words.table(titles, rows)]
