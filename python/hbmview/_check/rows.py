"""What was predicted beside what the compiler made of it.

    advise's document, outcomes  ->  Row: id, predicted [low, high], compiled, error, status, reason
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from .compiling import Outcome
from .._fit import words


@dataclass(frozen=True)
class Row:
    """A change, or options of the compiler, of which nothing is predicted."""

    id: str
    name: str
    predicted: Optional[int]
    low: Optional[int]
    high: Optional[int]
    outcome: Outcome
    options: Dict[str, Any] = field(default_factory=dict)

    @property
    def error_percent(self) -> Optional[float]:
        """By how much the prediction is off the compiler's total."""
        if self.predicted is None or not self.outcome.total:
            return None
        return 100 * (self.predicted - self.outcome.total) / self.outcome.total

    @property
    def is_inside(self) -> Optional[bool]:
        """Whether the compiler's total is in the range that was predicted."""
        if self.low is None or self.high is None or self.outcome.total is None:
            return None
        return self.low <= self.outcome.total <= self.high

    def as_dict(self) -> Dict[str, Any]:
        """A row of "check"."""
        return {
            "id": self.id, "name": self.name, "predicted_total_bytes": self.predicted, "low_bytes": self.low,
            "high_bytes": self.high, "compiled_total_bytes": self.outcome.total, "error_percent": self.error_percent,
            "is_inside": self.is_inside, "status": self.outcome.status, "reason": self.outcome.reason or None,
            "options": self.options, "seconds": round(self.outcome.seconds, 1),
        }


def change_row(change: Dict[str, Any], outcome: Outcome) -> Row:
    """Of an intervention of advise's document."""
    return Row(change["id"], change["name"], change["predicted_total_bytes"], change["low_bytes"],
               change["high_bytes"], outcome)


def options_row(options: Dict[str, Any], outcome: Outcome, id: str = "", name: str = "") -> Row:
    """Of options of the compiler: "xla_tpu_x=1"."""
    told = " ".join(f"{key}={_value(value)}" for key, value in options.items())
    return Row(id or told, name or told, None, None, None, outcome, options)


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- In words ---

def check_table(rows: List[Row]) -> List[str]:
    """Lines: predicted beside compiled, and below what could not be compiled, with the reason."""
    told = [[words.size(row.predicted), words.size(row.outcome.total), _off(row), row.name + _mark(row)]
            for row in rows if row.outcome.total is not None]
    return [*words.table(("PREDICTED", "COMPILED", "OFF", "CHANGE"), told), *_untold(rows)]


def flags_table(rows: List[Row], base: Optional[int]) -> List[str]:
    """Lines: what each option brings beside the program as it is, the smallest total first."""
    done = sorted((row for row in rows if row.outcome.total is not None), key=lambda row: row.outcome.total or 0)
    told = [[words.size(row.outcome.total), _change(row, base), row.name + _mark(row)] for row in done]
    return [*words.table(("COMPILED", "CHANGE", "XLA FLAG"), told), *_untold(rows)]


def _change(row: Row, base: Optional[int]) -> str:
    if base is None or row.outcome.total is None:
        return "-"
    return "same" if row.outcome.total == base else words.delta(row.outcome.total - base)


def _off(row: Row) -> str:
    if row.error_percent is None:
        return "-"
    return f"{row.error_percent:+.1f}%" + (" (outside)" if row.is_inside is False else "")


def _mark(row: Row) -> str:
    said = {"out_of_memory": " (does not fit: the compiler gave up)", "too_big": " (more all the same)"}
    return said.get(row.outcome.status, "")


def _untold(rows: List[Row]) -> List[str]:
    reasons: Dict[str, List[str]] = {}
    for row in rows:
        if row.outcome.total is None:
            reasons.setdefault(row.outcome.reason, []).append(row.name)
    return [""] * bool(reasons) + [f"{', '.join(names)}: {reason}." for reason, names in reasons.items()]
