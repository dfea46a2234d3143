"""Sizes and tables in words: for a terminal, and as HTML for a notebook."""

from __future__ import annotations

import html
from typing import List, Optional, Sequence

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
HTML_STYLE = "text-align:right;white-space:nowrap;padding:2px 10px;font-variant-numeric:tabular-nums"


def size(count: Optional[int]) -> str:
    """As the program writes sizes: 10.85 GiB; - where it is not known."""
    if count is None:
        return "-"
    unit, value = 0, float(abs(count))
    while value >= 1024 and unit + 1 < len(_UNITS):
        unit, value = unit + 1, value / 1024
    sign = "-" if count < 0 else ""
    return f"{sign}{value:.2f} {_UNITS[unit]}" if unit else f"{sign}{abs(count)} B"


def delta(count: Optional[int]) -> str:
    """A difference: its sign is always there."""
    return f"+{size(count)}" if count is not None and count > 0 else size(count)


def percent(part: Optional[int], whole: Optional[int]) -> str:
    """A share; - where one of the two is not known."""
    return "-" if part is None or not whole else f"{100 * part / whole:.1f}%"


def duration(seconds: float) -> str:
    """How long a compile took."""
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds) // 60} min {int(seconds) % 60} s"


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> List[str]:
    """Lines of a table; the last `words` columns are words, and stand to the left."""
    widths = [max(len(row[i]) for row in [titles, *rows]) for i in range(len(titles))]
    first = len(titles) - words
    return [
        "  ".join(cell.ljust(width) if i >= first else cell.rjust(width) for i, (cell, width) in
                  enumerate(zip(row, widths))).rstrip()
        for row in [titles, *rows]
    ]


def html_table(titles: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """The same for a notebook, whose colours it takes."""
    def line(cells: Sequence[str], tag: str) -> str:
        first = len(cells) - words
        return "<tr>" + "".join(
            f'<{tag} style="{HTML_STYLE}{";text-align:left" if i >= first else ""}">{html.escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(titles, 'th')}</thead><tbody>{body}</tbody></table>"


def paragraph(text: str, strong: bool = False) -> str:
    """A paragraph of HTML."""
    told = html.escape(text)
    return f"<p><b>{told}</b></p>" if strong else f"<p>{told}</p>"


def block(text: str) -> str:
    """Text that is laid out already, such as the program's."""
    return f"<pre>{html.escape(text)}</pre>"
