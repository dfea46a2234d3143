"""`python -m hbmview check PATH`, which `hbmview advise PATH --check` starts.

Exit codes are the program's: 0 there is an answer, whatever it says; 2 wrong usage; 3 there is none, since jax, libtpu
or the program before optimizations is not there.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import List

from . import check, progress_on_stderr
from .compiling import TIME_LIMIT
from .._run import BinaryNotFound, HbmviewError

_ABOUT = """\
What the compiler says to the advice: changes the program itself where that can be
done (donation, the type of parameters, limits of memory) and compiles it, for
chips that need not be here. PATH is a dump of XLA's (XLA_FLAGS=--xla_dump_to=DIR)
that has the program as it was before optimizations, or --hlo names it.
"""
_CODES = "Exit codes: 0 there is an answer; 2 wrong usage; 3 there is none: jax, libtpu or the program is not there."


def main(arguments: List[str]) -> int:
    """Runs the command."""
    options = vars(_parser().parse_args(arguments))
    form, path = options.pop("format"), options.pop("path")
    try:
        answer = check(path, progress=progress_on_stderr, **options)
    except BinaryNotFound as error:
        return _complain(str(error), 2)
    except HbmviewError as error:
        return _complain(str(error), error.exit_code)
    except KeyboardInterrupt:
        return 130
    words = {"json": lambda: json.dumps(answer), "markdown": answer.markdown, "text": answer.text}[form]()
    print(words.rstrip())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hbmview check", description=_ABOUT, epilog=_CODES,
                                     allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("path", metavar="PATH", help="what `hbmview advise` takes, on this machine")
    add("--flags", action="store_true", help="a table of XLA flags tried, and the totals that they bring")
    add("--topology", metavar="T", help="what is compiled for: v5e:2x2, v6e:4x4, cpu, gpu (v5e:2x2; of a program of "
                                        "XLA:CPU or XLA:GPU that of this machine)")
    add("--hlo", metavar="FILE", help="the program before optimizations, or the folder of the dump that has it")
    add("--session", metavar="S", help="look in this session only (all)")
    add("--module", metavar="M", help="this module (the largest one)")
    add("--capacity", metavar="SIZE", help="HBM of a chip, 16GiB or v5e: also compiled within it")
    add("--batch", type=int, metavar="N", help="the size of the batch dimension")
    add("--sequence", type=int, metavar="N", help="the length of the sequence")
    add("--ways", type=int, metavar="N", help="chips to shard over (4)")
    add("--page", metavar="URL", help="an open page of hbmview's, which then shows how far it is, and the results")
    add("--token_file", metavar="FILE", help="the token of that page, where it wants one ($HBMVIEW_TOKEN)")
    add("--time_limit", type=_seconds, default=TIME_LIMIT, metavar="SECONDS",
        help=f"for each compile; what takes longer failed ({TIME_LIMIT})")
    add("--top", type=int, metavar="N", help="so many interventions in the json (all)")
    add("--follow_symlinks", action="store_true", help="open links that lead out of PATH")
    add("--format", choices=("text", "json", "markdown"), default="text")
    return parser


def _seconds(text: str) -> int:
    seconds = int(text)
    if seconds < 1:
        raise ValueError(text)
    return seconds


def _complain(sentence: str, code: int) -> int:
    print(f"hbmview: {sentence}", file=sys.stderr)
    return code
