"""A line for whoever waits: a large step takes minutes to compile."""

from __future__ import annotations

import sys

from . import words
from .compiling import Compiled, Step, compiled
from .targets import Target


def told(step: Step, target: Target, folder: str, label: str = "", always: bool = False) -> Compiled:
    """Compiles, and says so on stderr where somebody looks at it."""
    what = f"{step.name} ({label})" if label else step.name
    heard = always or sys.stderr.isatty() or "ipykernel" in sys.modules
    if heard:
        print(f"hbmview: compiling {what} for {target.name} ...", end="", file=sys.stderr, flush=True)
    ending = " failed"
    try:
        left = compiled(step, target, folder)
        ending = f" {words.duration(left.seconds)}" + (", out of memory" if left.out_of_memory else "")
    finally:
        if heard:
            print(ending, file=sys.stderr, flush=True)
    return left
