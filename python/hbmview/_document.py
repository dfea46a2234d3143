"""An answer: the program's JSON as a dict, which can show itself in the program's own words.

    report = hbmview.report(path)
    report["modules"][0]["module"]       JSON, key by key
    print(report)                        as `hbmview report PATH` prints it
    report                               a notebook cell's result: the same as Markdown

The words are asked for when they are shown, of the same input; where it is gone by then, the JSON is shown instead.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Sequence

from ._run import ask, failure, run

_SHOWN_CHARACTERS = 4000


class Document(Dict[str, Any]):
    """A dict that knows what was asked."""

    def __init__(self, members: Dict[str, Any], arguments: Sequence[str] = (), input: Optional[bytes] = None):
        super().__init__(members)
        self._arguments: List[str] = list(arguments)
        self._input = input

    @classmethod
    def of(cls, arguments: Sequence[str], input: Optional[bytes] = None) -> Document:
        """Asks `hbmview ARGUMENTS`; raises and warns as `ask` does."""
        return cls(ask(arguments, input), arguments, input)

    def text(self) -> str:
        """As the program prints it for a terminal."""
        return self._in_words("text")

    def markdown(self) -> str:
        """As the program writes it for a pull request."""
        return self._in_words("markdown")

    def _in_words(self, format: str) -> str:
        if not self._arguments:
            raise ValueError("this document is not an answer of the program, and has no words")
        answer = run([*self._arguments, f"--format={format}"], self._input)
        if not answer.output:
            raise failure(answer)
        words = answer.output.decode("utf-8", "replace")
        if answer.exit_code == 3:  # a part is missing: the words do not say it, stderr does
            words += f"\nNot read: {answer.complaint}\n"
        return words

    def _shown(self, format: str) -> str:
        try:
            return self._in_words(format)
        except Exception as error:  # what is shown must not fail
            return f"{self._as_json()}\n\n(no words: {error})\n"

    def _as_json(self) -> str:
        whole = json.dumps(self, indent=1)
        cut = len(whole) - _SHOWN_CHARACTERS
        return whole if cut <= 0 else f"{whole[:_SHOWN_CHARACTERS]}\n... {cut} more characters"

    def __str__(self) -> str:
        return self._shown("text")

    def __reduce__(self) -> Any:
        return (type(self), (dict(self), self._arguments, self._input))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self).rstrip())

    def _repr_markdown_(self) -> str:
        return self._shown("markdown")
