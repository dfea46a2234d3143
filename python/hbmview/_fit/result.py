"""What `hbmview.fit` answers: does the step fit, and who holds the memory.

    fits      total + code <= capacity, and the compiler took it      True, False; None where no capacity is known
    total     what the compiler assigned in HBM, to the byte          with fragmentation
    peak      the most that is live at once, of it
    capacity  of one device                                           from the table of `hbmview`, or as it was given
    by_line   who holds the peak                                      the largest first
    advice    what each change would bring, as predicted              the largest saving first

All sizes are bytes of one device. It prints as text, and shows itself in a notebook.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

from . import words
from .folders import KeptFolder
from .._document import Document


@dataclass(frozen=True)
class Line:
    """A line of the user's program (or another group, by `by`), and what it holds at the peak."""

    key: str
    size: int
    buffers: int
    share: float


@dataclass(frozen=True)
class Advice:
    """A change that applies to the program, and its total as predicted."""

    id: str
    name: str
    saves: int
    predicted: int
    low: int
    high: int
    fit: str                 # fits, may_fit, too_big; unknown without a capacity
    changes_numerics: bool
    in_plan: bool            # one of those that together fit
    how: str
    code: str
    understood: float = 1.0  # of the bytes that it is about, the part known by evidence; below 0.8 the range is wider


@dataclass(frozen=True)
class FitResult:
    """See the head of this file."""

    name: str                # of the function
    target: str              # "v5e:2x2"
    chips: int               # that the step runs on
    fits: Optional[bool]
    total: Optional[int]     # None: the compiler gave up before it assigned buffers
    peak: Optional[int]
    capacity: Optional[int]
    code: int                # the program itself lies in HBM too, beside the total
    by_line: List[Line]
    by_line_left_out: int    # bytes of further lines
    advice: List[Advice]
    error: str               # the compiler's message where it ran out of memory, else ""
    notes: List[str]         # what to know of these figures
    seconds: float
    versions: Dict[str, str]
    stats: Dict[str, int]    # jax's CompiledMemoryStats; empty where the compile gave up
    module: str
    dump: str                # the folder of XLA's dump: `hbmview --logdir=DUMP`, hbmview.show(result.dump)
    explanation: Optional[Document] = field(default=None, repr=False)  # of the message, joined to the dump
    _kept: Optional[KeptFolder] = field(default=None, repr=False, compare=False)

    def as_dict(self) -> Dict[str, Any]:
        """As JSON: every field under its name."""
        names = [one.name for one in dataclasses.fields(self) if not one.name.startswith("_")]
        made = {name: getattr(self, name) for name in names}
        made["by_line"] = [dataclasses.asdict(one) for one in self.by_line]
        made["advice"] = [dataclasses.asdict(one) for one in self.advice]
        made["explanation"] = None if self.explanation is None else dict(self.explanation)
        return made

    @property
    def verdict(self) -> str:
        """One sentence."""
        place = f"{self.target}, {self.chips} device{'s' if self.chips != 1 else ''}"
        if self.total is None:
            return f"{self.name} does not fit {place}: the compiler ran out of memory before it assigned buffers."
        needed = f"{words.size(self.total)}{f' and {words.size(self.code)} of code' if self.code else ''}"
        if self.capacity is None:
            return f"{self.name} needs {needed} ({place}); no capacity to compare it with."
        said = "fits" if self.fits else "does not fit"
        share = words.percent(self.total + self.code, self.capacity)
        return f"{self.name} {said} {place}: it needs {needed} of {words.size(self.capacity)} ({share})."

    def __str__(self) -> str:
        lines = [self.verdict, self._circumstances()]
        for title, titles, rows, rest in self._tables():
            lines += ["", f"{title}:", "", *words.table(titles, rows, words=len(titles) - _NUMBERS[titles])]
            lines += [rest] if rest else []
        lines += [""] if self.notes else []
        lines += [f"- {note}" for note in self.notes]
        if self.explanation is not None:
            lines += ["", "What the compiler said, explained:", "", str(self.explanation).strip()]
        elif self.error:
            lines += ["", f"The compiler said: {self.error}"]
        return "\n".join(lines) + "\n"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self).rstrip())

    def _repr_html_(self) -> str:
        parts = [words.paragraph(self.verdict, strong=True), words.paragraph(self._circumstances())]
        for title, titles, rows, rest in self._tables():
            parts += [words.paragraph(title), words.html_table(titles, rows, words=len(titles) - _NUMBERS[titles])]
            parts += [words.paragraph(rest)] if rest else []
        parts += [words.paragraph(note) for note in self.notes]
        if self.explanation is not None:
            parts.append(words.block(str(self.explanation).strip()))
        elif self.error:
            parts.append(words.paragraph(f"The compiler said: {self.error}"))
        return "".join(parts)

    def _tables(self) -> List[Tuple[str, Tuple[str, ...], List[List[str]], str]]:
        """Title, column titles, rows, and a sentence below. An explanation has these of its own."""
        made: List[Tuple[str, Tuple[str, ...], List[List[str]], str]] = []
        if self.by_line and self.explanation is None:
            rest = f"... and {words.size(self.by_line_left_out)} at further lines" if self.by_line_left_out else ""
            made.append(("Who holds it at the peak", _LINE_TITLES, self._line_rows(), rest))
        if self.advice and self.explanation is None:
            plan = " (*: together they fit)" if any(one.in_plan for one in self.advice) else ""
            made.append((f"What each change would bring, as predicted{plan}", _ADVICE_TITLES, self._advice_rows(), ""))
        return made

    def _circumstances(self) -> str:
        made_by = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        peak = "" if self.peak is None else f"Peak {words.size(self.peak)}. "
        return f"{peak}Compiled in {words.duration(self.seconds)} by {made_by}."

    def _line_rows(self) -> List[List[str]]:
        return [[words.size(one.size), f"{100 * one.share:.1f}%", str(one.buffers), one.key] for one in self.by_line]

    def _advice_rows(self) -> List[List[str]]:
        return [
            [words.size(one.saves), words.size(one.predicted), words.size(one.low), words.size(one.high),
             one.fit.replace("_", " "), ("* " if one.in_plan else "") + one.name +
             (" (changes numerics)" if one.changes_numerics else "")]
            for one in self.advice
        ]


_LINE_TITLES = ("SIZE", "SHARE", "BUFFERS", "HELD BY")
_ADVICE_TITLES = ("SAVES", "TOTAL", "LOW", "HIGH", "", "CHANGE")
_NUMBERS: Dict[Tuple[str, ...], int] = {_LINE_TITLES: 3, _ADVICE_TITLES: 4}  # columns of them; the rest are words
