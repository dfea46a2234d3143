"""Runs the program once and takes what it answers.

    arguments, input -> hbmview ... --format=json -> document
                                      |
                                      +- exit code 1, 2, 3 -> CheckFailed, UsageError, ReadError

An exception carries the program's own sentence, and the document where there is one. Where only part of what was asked
for could be read (one broken file of many), that part is the answer: its "errors" and a ReadWarning tell the rest.
"""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Union

from ._binary import BinaryNotFound, find

__all__ = [
    "Answer", "BinaryNotFound", "CheckFailed", "HbmviewError", "PathLike", "ReadError", "ReadWarning", "UsageError",
    "ask", "complaint_of", "failure", "flags", "place", "run",
]

PathLike = Union[str, "os.PathLike[str]"]


class HbmviewError(Exception):
    """The program could not do what was asked; the text is its own sentence.

    `exit_code` is the program's, `document` what it answered all the same (or None), `command` how it was called.
    """

    def __init__(
        self, sentence: str, exit_code: int, command: Sequence[str], document: Optional[Dict[str, Any]] = None
    ) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
        self.command = list(command)
        self.document = document


class CheckFailed(HbmviewError):
    """Exit code 1: a figure is above its limit, or there is no out-of-memory message in the text."""


class UsageError(HbmviewError, ValueError):
    """Exit code 2: an option that does not exist, or has a value that it cannot have."""


class ReadError(HbmviewError, OSError):
    """Exit code 3: an input that cannot be read."""


class ReadWarning(UserWarning):
    """Some of what was asked for could not be read; the rest is the answer, and its "errors" tell what is missing."""


_OF_EXIT_CODE = {1: CheckFailed, 2: UsageError, 3: ReadError}


class Answer(NamedTuple):
    """What one run of the program left."""

    command: List[str]
    exit_code: int
    output: bytes
    complaint: str  # stderr, without the program's name before each line


def run(arguments: Sequence[str], input: Optional[bytes] = None, timeout: Optional[float] = None) -> Answer:
    """Runs `hbmview ARGUMENTS` to its end, whatever that is. An interrupt ends the program as well."""
    command = [find(), *arguments]
    done = subprocess.run(
        command,
        input=input,
        stdin=subprocess.DEVNULL if input is None else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=timeout,
        check=False,
    )
    return Answer(command, done.returncode, done.stdout, complaint_of(done.stderr))


def complaint_of(stderr: bytes) -> str:
    """What the program says went wrong, without its name before each line."""
    lines = stderr.decode("utf-8", "replace").strip().splitlines()
    return "\n".join(line[len("hbmview: "):] if line.startswith("hbmview: ") else line for line in lines)


def ask(arguments: Sequence[str], input: Optional[bytes] = None, timeout: Optional[float] = None) -> Dict[str, Any]:
    """What `hbmview ARGUMENTS --format=json` answers. Raises HbmviewError, or warns where a part could not be read."""
    answer = run([*arguments, "--format=json"], input, timeout)
    document = _document(answer)
    if answer.exit_code == 0 and document is not None:
        return document
    if answer.exit_code == 3 and document is not None and any(v for k, v in document.items() if k != "errors"):
        warnings.warn(answer.complaint, ReadWarning, stacklevel=4)
        return document
    raise failure(answer, document)


def failure(answer: Answer, document: Optional[Dict[str, Any]] = None) -> HbmviewError:
    """The exception for a run that failed."""
    kind = _OF_EXIT_CODE.get(answer.exit_code, HbmviewError)
    sentence = answer.complaint or f"{answer.command[0]} ended with {answer.exit_code} and said nothing"
    return kind(sentence, answer.exit_code, answer.command, document)


def _document(answer: Answer) -> Optional[Dict[str, Any]]:
    try:
        document = json.loads(answer.output)
    except ValueError:  # nothing, or cut off: the exit code says why
        return None
    return document if isinstance(document, dict) else None


def flags(**options: Any) -> List[str]:
    """Options as the program takes them: None is left out, True stands alone, a list is joined by commas."""
    made = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        if value is True:
            made.append(f"--{name}")
        elif isinstance(value, (list, tuple)):
            made.append(f"--{name}={','.join(str(v) for v in value)}")
        else:
            made.append(f"--{name}={os.fspath(value) if isinstance(value, os.PathLike) else value}")
    return made


def place(path: PathLike) -> str:
    """A path, or a URL, as the program takes it: one that begins with a hyphen is no option."""
    text = os.fspath(path)
    return "./" + text if text.startswith("-") else text
