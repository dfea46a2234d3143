"""`python -m hbmview fit`: does a step fit, for CI and terminals.

Exit codes are the program's: 0 it fits, 1 it does not (or is above --fail-over), 2 wrong usage, 3 it cannot compile.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any, Dict, List, Mapping, Optional, Union

from .comparison import Comparison, compare_steps
from .folders import dump_folder
from .function import wanted_of
from .reading import Asked, result_of
from .result import FitResult
from .targets import FitError, target_of
from .telling import told
from .._questions import report
from .._run import BinaryNotFound, CheckFailed, HbmviewError

_ABOUT = """\
Will it fit, before there is a chip: compiles a step ahead of time and reads the
compiler's own assignment of buffers.

module:function is one of
  train:step       whose arguments are step.hbmview_args (a tuple of arrays or
                   jax.ShapeDtypeStructs, or a function that returns it), or --args
  train:make       a function without parameters that returns (step, *args),
                   fit.lazily(step, *args), or a dict of variants to compare:
                   {"base": (step, *args), "remat": (other, *args)}
  dir/train.py:f   the same in a file
"""
_CODES = """\
Exit codes: 0 it fits (or no capacity is known); 1 it does not, or is above --fail-over;
2 wrong usage; 3 it cannot be imported or compiled. Of variants, the first counts.

  python -m hbmview fit train:step --topology v5e:4x4
  python -m hbmview fit train.py:loss --args 'f32[1024,1024] bf16[8,1024]'
"""


def main(arguments: List[str]) -> int:
    """Runs the command."""
    asked = _parser().parse_args(arguments)
    if asked.topology not in ("gpu", "cuda", "rocm"):  # compiling needs no chip: whoever uses them keeps them
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
    try:
        answer = _answer(asked)
        print(json.dumps(answer.as_dict()) if asked.format == "json" else str(answer).rstrip())
        return _verdict(asked, answer)
    except BinaryNotFound as error:
        print(f"hbmview: {error}", file=sys.stderr)
        return 2
    except HbmviewError as error:
        print(f"hbmview: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m hbmview fit", description=_ABOUT, epilog=_CODES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", metavar="module:function")
    parser.add_argument("--topology", metavar="T", help="v5e:2x2, v6e:4x4, v5p:2x2x1, cpu, gpu (v5e:2x2 where libtpu "
                                                        "is installed, else what jax has here)")
    parser.add_argument("--args", nargs="+", default=[], metavar="ARRAY",
                        help="arguments by type and shape: f32[8,128] s32[8]")
    parser.add_argument("--donate", metavar="N,N", help="positions of the arguments that are donated")
    parser.add_argument("--capacity", metavar="SIZE", help="16GiB, v5e or H100 (that of the topology)")
    parser.add_argument("--fail-over", metavar="SIZE", help="exit 1 when the peak is above it: 15GiB, v5e")
    parser.add_argument("--of", choices=("peak", "total"), default="peak", help="... or the total (peak)")
    parser.add_argument("--by", default="source", metavar="KEY", help="who holds it, as `hbmview report --by` (source)")
    parser.add_argument("--top", type=int, default=10, metavar="N", help="so many lines (10)")
    parser.add_argument("--dump", metavar="DIR", help="keep XLA's dump there, for hbmview --logdir=DIR")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser


def _answer(asked: argparse.Namespace) -> Union[FitResult, Comparison]:
    wanted = wanted_of(asked.function, asked.args)
    how = Asked(asked.capacity, asked.by, asked.top)
    target = target_of(asked.topology)
    donated = _positions(asked.donate)
    if isinstance(wanted, Mapping):
        return compare_steps(wanted, target, donated, how, asked.dump, always_tells=True)
    step = wanted if donated is None else dataclasses.replace(wanted, donate_argnums=donated)
    kept, folder = dump_folder(asked.dump)
    return result_of(step, target, told(step, target, folder, always=True), how, kept)


def _positions(text: Optional[str]) -> Optional[List[int]]:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise FitError(f'--donate wants positions such as 0 or 0,1, not "{text}"', exit_code=2) from None


def _verdict(asked: argparse.Namespace, answer: Union[FitResult, Comparison]) -> int:
    result = answer.rows[0].result if isinstance(answer, Comparison) else answer
    if result is None or result.fits is False:
        return 1
    if asked.fail_over is None:
        return 0
    limits: Dict[str, Any] = {"fail_over": asked.fail_over, "of": asked.of}
    try:
        report(result.dump, top=1, memory_space=0, **limits)
    except CheckFailed as error:
        print(f"hbmview: {error}", file=sys.stderr)
        return 1
    return 0
