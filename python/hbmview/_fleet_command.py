"""`python -m hbmview fleet LOGDIR --out DIR`."""

from __future__ import annotations

import argparse
import sys
from typing import List

from ._binary import BinaryNotFound
from ._run import HbmviewError

_ABOUT = """Reads all sessions of a log directory or bucket into one table: Parquet, by date. Those that are there
already are skipped; those that cannot be read are rows with the reason, and tried again by the next run."""
_AFTER = """Exit codes: 0 all is in the table, what cannot be read with the reason; 2 wrong usage; 3 LOGDIR cannot be
listed, or the engine gave up: run it again, and it goes on. Columns and queries: docs/fleet.md."""


def main(arguments: List[str]) -> int:
    options = vars(_parser().parse_args(arguments))
    try:
        from . import fleet

        done = fleet.run(options.pop("logdir"), options.pop("out"), progress=sys.stderr, **options)
    except ImportError as error:
        return _complain(str(error), 2)
    except BinaryNotFound as error:
        return _complain(str(error), 2)
    except HbmviewError as error:
        return _complain(str(error), error.exit_code)
    except fleet.IncompleteFleet as error:
        return _complain(f"{error}" + (f" ({error.__cause__})" if error.__cause__ else ""), 3)
    for remark in done.left_out:
        _complain(f"left out: {remark}", 0)
    print(done)
    if done.failed or done.partial:
        table = f"'{done.out}/**/*.parquet'"
        print(f"Which, and why: SELECT path, reason FROM {table} WHERE kind = 'session' AND reason IS NOT NULL")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m hbmview fleet", description=_ABOUT, epilog=_AFTER)
    add = parser.add_argument
    add("logdir", metavar="LOGDIR", help="a folder, gs://bucket/runs or s3://bucket/runs")
    add("--out", required=True, metavar="DIR", help="the table: a folder, s3://... or gs://...")
    add("--engine", choices=("ray", "here"), default="ray", help="here: this process, without Ray")
    add("--address", help='of a Ray cluster: "auto", "ray://host:10001" (else this machine)')
    add("--sessions_per_task", type=_positive, default=32, metavar="N",
        help="at most so many in one task, and one file (%(default)s)")
    add("--at_once", type=_positive, default=4, metavar="N",
        help="sessions that a task reads side by side (%(default)s)")
    add("--memory_profile", action="store_true", help="the peaks of allocators over time as well")
    add("--frameworks", metavar="LIST", help="whose files are not your lines, as `hbmview report` has it")
    add("--timeout_s", type=_positive, default=600, metavar="S", help="for each report of a session (%(default)s)")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _complain(sentence: str, code: int) -> int:
    print(f"hbmview fleet: {sentence}", file=sys.stderr)
    return code
