"""Compiles a step ahead of time, and keeps what the compiler left: its own assignment of buffers.

    fn, arguments, target  ->  jax.jit(fn).lower(...).compile(xla_dump_to=FOLDER)  ->  Compiled

It runs in this process, so that closures, meshes and static arguments work as they do in the training loop. Nothing is
executed and no array is made. A compile that ends for want of memory (E1000) is a result like others: XLA writes the
assignment that did not fit before it gives up. Any other failure is a FitError.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from .placing import Placed, placed
from .targets import FitError, Target, imported_jax

Positions = Union[int, Sequence[int], None]


@dataclass(frozen=True)
class Step:
    """What is to be compiled."""

    fn: Any
    args: Sequence[Any]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    donate_argnums: Positions = None
    compiler_options: Mapping[str, Any] = field(default_factory=dict)
    lever: Optional[str] = None  # of `fit.compare`: the advice that this variant follows

    @property
    def name(self) -> str:
        """As the user calls the function."""
        fn = getattr(self.fn, "func", self.fn)  # functools.partial
        return getattr(fn, "__name__", type(fn).__name__)


@dataclass(frozen=True)
class Compiled:
    """What a compile left."""

    folder: str                # of XLA's dump
    chips: int
    seconds: float
    stats: Dict[str, int]      # jax's CompiledMemoryStats; empty where the compile gave up
    out_of_memory: str         # its message, else ""
    remarks: List[str]         # what jax warned of
    versions: Dict[str, str]


def compiled(step: Step, target: Target, folder: str) -> Compiled:
    """Compiles `step` for `target`; the dump goes to `folder`."""
    jax = imported_jax()
    where = placed(target, step.args, step.kwargs)
    began, failure, stats = time.monotonic(), "", {}
    with warnings.catch_warnings(record=True) as caught, _without_cache(jax):
        warnings.simplefilter("always")
        lowered = _lowered(jax, step, where)
        try:
            stats = _stats_of(lowered.compile(compiler_options={**step.compiler_options, **_dump_to(folder)}))
        except Exception as error:
            if "RESOURCE_EXHAUSTED" not in str(error):
                raise FitError(f"{step.name} could not be compiled for {target.name}: {error}") from error
            failure = f"{type(error).__name__}: {error}"
    seconds = time.monotonic() - began
    return Compiled(folder, where.chips, seconds, stats, failure, _remarks(caught), versions_of(target))


def _lowered(jax: Any, step: Step, where: Placed) -> Any:
    fn = step.fn
    if not hasattr(fn, "lower") or step.donate_argnums is not None or not where.has_arrays:
        donated = {} if step.donate_argnums is None else {"donate_argnums": step.donate_argnums}
        fn = jax.jit(fn, **donated, **({} if where.has_arrays else {"out_shardings": where.default}))
    try:
        return fn.lower(*where.args, **where.kwargs)
    except Exception as error:
        raise FitError(f"{step.name} could not be traced: {_first_line(error)}") from error


def _remarks(caught: List[warnings.WarningMessage]) -> List[str]:
    """What jax says of donated arguments; every other warning goes on its way."""
    remarks = []
    for one in caught:
        if "donated" in str(one.message):
            remarks.append(_first_line(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return remarks


def _dump_to(folder: str) -> Dict[str, Any]:
    os.makedirs(folder, exist_ok=True)
    return {"xla_dump_to": folder, "xla_dump_hlo_as_proto": True}


def _stats_of(executable: Any) -> Dict[str, int]:
    """The compiler's own sums; a backend may have none."""
    stats = executable.memory_analysis()
    names = [name for name in dir(stats) if name.endswith("_in_bytes")]
    return {name: getattr(stats, name) for name in names}


@contextlib.contextmanager
def _without_cache(jax: Any) -> Iterator[None]:
    """What comes out of jax's cache on disk was not compiled, so XLA would write no dump of it."""
    before = jax.config.jax_enable_compilation_cache
    jax.config.update("jax_enable_compilation_cache", False)
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)


def versions_of(target: Target) -> Dict[str, str]:
    """Who compiled: libtpu where it is a TPU's program, else XLA as it is in jaxlib."""
    found = {}
    for package in ("jax", "jaxlib", *(["libtpu"] if target.devices[0].platform == "tpu" else [])):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def _first_line(said: Any) -> str:
    lines = str(said).strip().splitlines()
    return lines[0] if lines else type(said).__name__
