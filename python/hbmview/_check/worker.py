"""One compile, in a process of its own: the compiler may end it, and it is ended once the buffers are assigned.

    stdin   {"source": FILE, "topology": "v5e:2x2", "changes": ["donate_inputs"], "options": {...}, "folder": DIR}
    stdout  a line when the program is ready to be compiled, and a line at the end:
            {"changed": 3, "chips": 1, "versions": {...}}
            {"status": "compiled"}, {"status": "out_of_memory", "reason": "..."} or {"status": "failed", "reason": ...}

It is started by compiling.py, and by nobody else.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Dict

from . import change, raw_program
from .._fit.compiling import versions_of
from .._fit.targets import Target, target_of
from .._run import HbmviewError

_CHANGES: Dict[str, Callable[[raw_program.Program], int]] = {
    "donate_inputs": change.donate,
    "bf16_parameters": change.narrow,
}


def main() -> int:
    """Does what stdin says."""
    asked = json.load(sys.stdin)
    try:
        _compile(asked)
    except HbmviewError as error:
        _say(status="failed", reason=str(error), exit_code=error.exit_code)
    except Exception as error:  # whatever jaxlib raises of a program that it cannot take
        is_full = "RESOURCE_EXHAUSTED" in str(error)
        _say(status="out_of_memory" if is_full else "failed", reason=_reason(error))
    return 0


def _compile(asked: Dict[str, Any]) -> None:
    target = target_of(asked["topology"])
    program = raw_program.program_of(asked["source"])
    changed = [_CHANGES[change](program) for change in asked["changes"]]
    _say(changed=sum(changed), chips=program.chips, versions=versions_of(target))
    if not all(changed):
        return _say(status="not_in_module", reason="the program has nothing to change for it")
    if not _has_chips(program, target):
        return _say(status="failed", reason=f"the program is one of {program.chips} devices, {target.name} has "
                    f"{len(target.devices)}: name a topology with as many, such as --topology=v5e:4x4", exit_code=2)
    options = {**asked["options"], "xla_dump_to": asked["folder"], "xla_dump_hlo_as_proto": True}
    raw_program.compiled(program, target.devices, options)
    return _say(status="compiled")


def _has_chips(program: raw_program.Program, target: Target) -> bool:
    return program.chips <= len(target.devices)


def _reason(error: Exception) -> str:
    lines = [line.strip() for line in str(error).strip().splitlines()] or [type(error).__name__]
    if "parse the text" not in lines[0]:
        return lines[0]
    return (f"{' '.join(lines[:2])} (a text is read by its own version of XLA only; --xla_dump_hlo_as_proto writes "
            "what others read too)")


def _say(**members: Any) -> None:
    print(json.dumps(members), flush=True)


if __name__ == "__main__":
    sys.exit(main())
