"""Makes a FitResult of what a compile left: the program reads the compiler's own assignment of buffers.

    dump  ->  hbmview report --by=source   total, peak, lines
          ->  hbmview advise               capacity of the chip, what changes would bring
          ->  hbmview explain              the message of a compile that ran out of memory, joined to the dump
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import words
from .compiling import Compiled, Step
from .folders import KeptFolder
from .result import Advice, FitResult, Line
from .targets import FitError, Target
from .._document import Document
from .._questions import Size, advise, explain, report
from .._run import HbmviewError, UsageError

_DISAGREES_BYTES = 1 << 20  # jax's sums and the assignment differ by some KiB: alignment, scratch of the runtime


class Asked(NamedTuple):
    """How the answer is wanted."""

    capacity: Optional[Size] = None  # None: the target's own
    by: str = "source"
    top: int = 10


def result_of(step: Step, target: Target, left: Compiled, asked: Asked,
              kept: Optional[KeptFolder] = None) -> FitResult:
    """The answer. Raises FitError where the compiler left nothing that can be read."""
    module, space = _main_program(step, left, asked)
    total = space.get("total_allocation_bytes")
    capacity, advice = _advice(target, left, asked, space)
    code = left.stats.get("generated_code_size_in_bytes", 0)
    groups = space.get("groups") or {"rows": [], "left_out_bytes": 0}
    return FitResult(
        name=step.name, target=target.name, chips=left.chips, fits=_fits(total, code, capacity, left, asked),
        total=total, peak=space.get("peak_bytes"), capacity=capacity, code=code, by_line=_lines(groups),
        by_line_left_out=groups["left_out_bytes"], advice=advice, error=left.out_of_memory,
        notes=_notes(step, target, left, asked, space), seconds=left.seconds, versions=left.versions, stats=left.stats,
        module=module, dump=left.folder, explanation=_explanation(left, capacity), _kept=kept)


def _main_program(step: Step, left: Compiled, asked: Asked) -> Tuple[str, Dict[str, Any]]:
    """The largest program of the dump and its device memory; ("", {}) where the compiler gave up before that."""
    try:
        modules = report(left.folder, by=asked.by, top=asked.top, memory_space=0).get("modules", [])
    except HbmviewError as error:
        if not left.out_of_memory:
            raise FitError(f"the dump of {step.name} in {left.folder} cannot be read: {error}") from error
        modules = []
    programs = [(module["module"], space) for module in modules for space in module["memory_spaces"]]
    if not programs and not left.out_of_memory:
        raise FitError(f"XLA left no program with buffers in {left.folder} for {step.name}")
    return max(programs, key=lambda one: int(one[1]["total_allocation_bytes"]), default=("", {}))


def _fits(total: Optional[int], code: int, capacity: Optional[int], left: Compiled, asked: Asked) -> Optional[bool]:
    if left.out_of_memory and (asked.capacity is None or total is None):
        return False
    if capacity is None or total is None:
        return None
    return total + code <= capacity


def _lines(groups: Dict[str, Any]) -> List[Line]:
    return [Line(row["key"], row["size_bytes"], row["buffers"], row["share"]) for row in groups["rows"]]


# --- Capacity and advice ---

def _advice(target: Target, left: Compiled, asked: Asked, space: Dict[str, Any]) -> Tuple[Optional[int], List[Advice]]:
    """The capacity as the program knows it, and the changes that apply."""
    if not space:
        return _capacity_alone(target, left, asked), []
    ways = left.chips if left.chips > 1 else None
    wanted = target.capacity if asked.capacity is None else asked.capacity
    try:
        told = advise(left.folder, capacity=wanted, ways=ways)
    except UsageError:
        if asked.capacity is not None:
            raise
        told = advise(left.folder, ways=ways)  # a device that the table of capacities does not have
    plan = (told.get("plan") or {}).get("interventions", [])
    changes = [_change(one, plan) for one in told["interventions"] if one["applies"]]
    return told["capacity_bytes"], sorted(changes, key=lambda one: -one.saves)


def _change(one: Dict[str, Any], plan: List[str]) -> Advice:
    return Advice(
        id=one["id"], name=one["name"], saves=one["saves_bytes"], predicted=one["predicted_total_bytes"],
        low=one["low_bytes"], high=one["high_bytes"], fit=one.get("fit") or "unknown",
        changes_numerics=one["changes_numerics"], in_plan=one["id"] in plan, how=one["how"], code=one["code"],
        understood=one.get("understood", 1.0))


def _capacity_alone(target: Target, left: Compiled, asked: Asked) -> Optional[int]:
    told = _explanation(left, None)
    messages = told.get("messages", []) if told is not None else []
    known = [one["capacity_bytes"] for one in messages if one.get("capacity_bytes") and one["memory_space"] == "hbm"]
    return known[0] if known and asked.capacity is None else None


def _explanation(left: Compiled, capacity: Optional[int]) -> Optional[Document]:
    if not left.out_of_memory:
        return None
    try:
        return explain(left.out_of_memory, logdir=left.folder, capacity=capacity)
    except HbmviewError:  # a message that the program does not know stands in `error` as it is
        return None


# --- What to know ---

def _notes(step: Step, target: Target, left: Compiled, asked: Asked, space: Dict[str, Any]) -> List[str]:
    notes = [f"jax: {remark}" for remark in left.remarks]
    if left.out_of_memory and space:
        notes.append("The compiler refused the program; shown is the assignment that did not fit.")
    if left.chips == 1 < len(target.devices):
        notes.append(f"No argument is sharded: compiled for one of the {len(target.devices)} devices of {target.name}.")
    if target.name == "cpu":
        notes.append("Compiled for this machine's CPU, which lays arrays out without the padding of TPUs and fuses "
                     "otherwise: an accelerator's figures differ.")
    stated = _stated_total(left.stats)
    if space and stated is not None and abs(stated - space["total_allocation_bytes"]) > _DISAGREES_BYTES:
        notes.append(f"jax's CompiledMemoryStats count {words.size(stated)}, the assignment of buffers "
                     f"{words.size(space['total_allocation_bytes'])}.")
    return notes


def _stated_total(stats: Dict[str, int]) -> Optional[int]:
    """The total by the compiler's own sums: what is aliased is argument and output, but one memory."""
    if not stats:
        return None
    return (stats["argument_size_in_bytes"] + stats["output_size_in_bytes"] - stats["alias_size_in_bytes"] +
            stats["temp_size_in_bytes"])
