"""How far a check is, told to a page while it goes on (page.py).

    begin, compiling, row ...  ->  state  --a thread: when it is new, and each 5 s-->  Page

So a page that is slow, or not there, delays no compile, and silence means that the check is no more. What goes wrong is
said once on stderr; the check and its exit code do not care.
"""

from __future__ import annotations

import sys
import threading
from types import TracebackType
from typing import Any, Dict, List, Optional, Tuple, Type

from .page import Page
from .rows import Row

_NEWS_SECONDS = 5.0
_END_SECONDS = 10.0
_REASON_MOST, _TEXT_MOST = 1900, 500  # bytes: the server takes no more than 2000 of one, and 64 KiB of all
_OF_ROW = ("id", "name", "predicted_total_bytes", "low_bytes", "high_bytes", "compiled_total_bytes", "is_inside",
           "status", "reason", "seconds")


class Telling:
    """`with Telling(page, "changes") as telling:` how the block ends is told as well. Without a page nothing is."""

    def __init__(self, page: Optional[Page], asked: str) -> None:
        self._page = page
        self._of: Optional[Tuple[str, str]] = None  # session and module; not known yet
        self._asked_for: Tuple[Optional[str], Optional[str]] = (None, None)
        self._rows: List[Dict[str, Any]] = []
        self._state: Dict[str, Any] = {"state": "running", "asked": asked, "target": None, "compiler": None, "total": 0,
                                       "compiled": 0, "compiling": None, "reason": None}
        self._news = threading.Condition()
        self._is_new, self._is_over, self._has_complained = False, False, False
        self._teller = threading.Thread(target=self._tell_on, name="hbmview-check-page", daemon=True)

    # --- What there is to tell ---

    def asked_for(self, session: Optional[str], module: Optional[str]) -> None:
        """The names as they were given, which the server may not know: for an end before of() has better ones."""
        self._asked_for = (session, module)

    def of(self, session: Optional[str], module: Optional[str]) -> None:
        """Whose check it is; where that is not known, nothing is told."""
        if session and module:
            self._of = (session, module)
            self._change()

    def begin(self, target: str, total: int) -> None:
        self._change(target=target, total=total)

    def one_more(self) -> None:
        """A compile that was not counted before."""
        self._change(total=self._state["total"] + 1)

    def compiling(self, name: str) -> None:
        self._change(compiling=_short(name, _TEXT_MOST))

    def compiled(self, versions: Dict[str, str]) -> None:
        made_by = ", ".join(f"{name} {version}" for name, version in versions.items())
        self._change(compiling=None, compiled=self._state["compiled"] + 1,
                     compiler=_short(made_by, _TEXT_MOST) or self._state["compiler"])

    def row(self, row: Row) -> Row:
        """Adds it, and hands it back."""
        told = row.as_dict()
        texts = {key: _short(told[key], _TEXT_MOST) for key in ("id", "name", "reason") if told[key] is not None}
        self._rows.append({key: texts.get(key, told[key]) for key in _OF_ROW})
        self._change()
        return row

    def _change(self, **members: Any) -> None:
        with self._news:
            self._state = {**self._state, **members, "rows": list(self._rows)}
            self._is_new = True
            self._news.notify()

    # --- The thread ---

    def __enter__(self) -> Telling:
        if self._page:
            self._teller.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], raised: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._of is None:
            self.of(*self._asked_for)
        if kind is None:
            self._change(state="done", compiling=None)
        elif issubclass(kind, KeyboardInterrupt):
            self._change(state="stopped", compiling=None, reason="It was stopped by Ctrl-C.")
        else:
            self._change(state="failed", compiling=None, reason=_short(str(raised), _REASON_MOST))
        with self._news:
            self._is_over = True
            self._news.notify()
        if self._page:
            self._teller.join(_END_SECONDS)

    def _tell_on(self) -> None:
        is_over = False
        while not is_over:
            with self._news:
                if not self._is_new and not self._is_over:
                    self._news.wait(_NEWS_SECONDS)
                is_over, self._is_new, state = self._is_over, False, self._state
            self._tell(state)

    def _tell(self, state: Dict[str, Any]) -> None:
        if self._of is None or self._page is None:
            return
        problem = self._page.tell(*self._of, state)
        if problem and not self._has_complained:
            self._has_complained = True
            print(f"hbmview: --page: {problem}; the check goes on without it.", file=sys.stderr, flush=True)


def _short(text: str, most: int) -> str:
    """As many bytes of UTF-8 at most, nothing of which JSON cannot say."""
    known = text.encode("utf-8", "replace").replace(b"\0", b"")
    return (known if len(known) <= most else known[:most - 3] + "…".encode()).decode("utf-8", "ignore")
