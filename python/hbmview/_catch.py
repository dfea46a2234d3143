"""An exception that says "out of memory", and under it what that means.

    with hbmview.catch():                  traceback, as ever
        step(state, batch)                 + what did not fit, which lines hold it, what to change

    arranged() -> XLA dumps what it compiles --+
    exception ---------------------------------+-> hbmview explain --logdir=DUMP -> an Explanation

The exception goes on its way: nothing is swallowed, and what cannot be explained is as it was. In IPython the
explanation is shown when the cell has ended (_ipython); elsewhere it is a note of the exception, which Python prints
below the traceback, and so does whatever logs it.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import Any, Dict, List, Optional, Tuple

from ._document import Document
from ._dump import Dump, arranged, end_asking
from ._questions import Size, explain
from ._run import CheckFailed, PathLike

# Only to tell which failures of an explanation are worth a word; what is a message, the program decides.
_LIKELY = re.compile(r"RESOURCE_EXHAUSTED|out of memory|OutOfMemory", re.IGNORECASE)


class Explanation:
    """What an out-of-memory exception means: printed, or as a notebook's result, in the program's words.

    `document` is the answer of `hbmview explain` (None where that failed), `logdir` where its buffers were read (None:
    nowhere), `remark` what else there is to say.
    """

    def __init__(self, document: Optional[Document], logdir: Optional[str], remark: str) -> None:
        self.document = document
        self.logdir = logdir
        self.remark = remark
        self.is_shown = False  # below a cell

    def __str__(self) -> str:
        return "\n".join(part for part in ("" if self.document is None else str(self.document), self.remark) if part)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self).rstrip())

    def _repr_markdown_(self) -> str:
        words = "" if self.document is None else self.document._repr_markdown_()
        return "\n\n".join(part for part in (words, self.remark) if part)


class catch(contextlib.ContextDecorator):
    """Explains an out-of-memory exception under its traceback: `with hbmview.catch():`, or `@hbmview.catch()`.

    `logdir` is where profiles or dumps of the program are; without it XLA is asked for a dump, which it can be until
    jax has begun, and which goes when Python ends. `capacity` and further options are those of `hbmview.explain`.
    After the block `explanation` is what was said, or None.
    """

    def __init__(
        self, logdir: Optional[PathLike] = None, *, capacity: Optional[Size] = None, **options: Any
    ) -> None:
        self.logdir = logdir
        self.options: Dict[str, Any] = {"capacity": capacity, **options}
        self.explanation: Optional[Explanation] = None
        self._dump = Dump(None, "")

    def __enter__(self) -> catch:
        self.explanation = None
        self._dump = arranged() if self.logdir is None else Dump(None, "")
        return self

    def __exit__(self, kind: object, error: Optional[BaseException], trace: object) -> None:
        end_asking()
        if not isinstance(error, Exception):
            return
        self.explanation = explained(error, self._dump, logdir=self.logdir, **self.options)
        if self.explanation:
            _tell(error, self.explanation)


def explained(
    error: BaseException, dump: Dump, logdir: Optional[PathLike] = None, **options: Any
) -> Optional[Explanation]:
    """The explanation of an exception; None where it is about something else. Never raises."""
    place = logdir if logdir is not None else dump.folder if dump.has_programs() else None
    try:
        document = explain(error, logdir=place, **options)
    except CheckFailed:
        return None
    except Exception as failure:
        return _unexplained(error, failure)
    remark = dump.remark
    if dump.folder and place == dump.folder:
        remark = f"The compiled programs are in {place}: hbmview.show({place!r}) shows their buffers."
        if not dump.stays:
            remark += " They go when Python ends; XLA_FLAGS=--xla_dump_to=DIR keeps them."
    elif dump.folder and not remark:
        remark = f"XLA left no program in {dump.folder}: what failed was compiled elsewhere, or came out of a cache."
    return Explanation(document, None if place is None else str(place), remark)


def _unexplained(error: BaseException, failure: Exception) -> Optional[Explanation]:
    if not _LIKELY.search(str(error)):
        return None
    return Explanation(None, None, f"hbmview could not explain it: {failure}")


def _tell(error: BaseException, explanation: Explanation) -> None:
    mark(error, explanation)
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell:
        from ._ipython import tell_after_cell

        tell_after_cell(shell)
    elif hasattr(error, "add_note"):  # Python 3.11
        error.add_note("\n" + str(explanation))
    else:
        _tell_at_the_end()


def _tell_at_the_end() -> None:
    """Below the traceback that ends the program, if one does that was explained."""
    before = sys.excepthook

    def hook(kind: Any, raised: Any, trace: Any) -> None:
        sys.excepthook = before
        before(kind, raised, trace)
        explanation = marked(raised)[1]
        if explanation:
            print("\n" + str(explanation), file=sys.stderr)

    sys.excepthook = hook


# The mark is on the exception, and nothing here holds one: its traceback holds the arrays of every frame.
_MARK = "__hbmview__"


def mark(error: BaseException, explanation: Optional[Explanation]) -> None:
    """Notes what there is to say of an exception, or that there is nothing."""
    with contextlib.suppress(AttributeError):  # one that is frozen
        setattr(error, _MARK, explanation)


def marked(raised: Optional[BaseException]) -> Tuple[bool, Optional[Explanation]]:
    """Whether this exception, or one that it came from, was looked at, and what there is to say."""
    seen: List[BaseException] = []
    while raised is not None and raised not in seen:
        if hasattr(raised, _MARK):
            return True, getattr(raised, _MARK)
        seen.append(raised)
        raised = raised.__cause__ or raised.__context__
    return False, None
