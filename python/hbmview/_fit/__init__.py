"""Will it fit, before there is a chip: `hbmview.fit` compiles a step ahead of time and reads the compiler's buffers.

    result = hbmview.fit(train_step, params, opt_state, batch, topology="v5e:2x2", donate_argnums=(0, 1))
    result.fits, result.total, result.capacity, result.by_line, result.advice

    variants = hbmview.fit.compare({"base": (step, *args), "remat": (remat_step, *args)}, topology="v5e:2x2")

    targets     what is compiled for                 jax, libtpu
    placing     the arguments onto its devices       jax
    compiling   the compile, and XLA's dump of it    jax
    reading     the dump through the program         -> result
    comparison  variants beside what was predicted   -> comparison_table

jax is imported when a step is compiled, not before.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

from .comparison import Comparison, compare_steps
from .compiling import Positions, Step
from .folders import dump_folder
from .placing import mesh_on
from .reading import Asked, result_of
from .result import Advice, FitResult, Line
from .targets import FitError, target_of
from .telling import told
from .._questions import Size

__all__ = ["Advice", "Comparison", "FitError", "FitResult", "Line", "fit"]


class Fit:
    """`hbmview.fit`: to be called, and what goes with it."""

    def __call__(
        self,
        fn: Any,
        *args: Any,
        topology: Any = None,
        donate_argnums: Positions = None,
        capacity: Optional[Size] = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        by: str = "source",
        top: int = 10,
        dump: Optional[str] = None,
        compiler_options: Optional[Mapping[str, Any]] = None,
    ) -> FitResult:
        """Compiles `fn(*args)` ahead of time, for chips that need not be here, and tells whether it fits one of them.

        `fn` is jitted or not; `args` and `kwargs` are arrays or jax.ShapeDtypeStructs, with shardings where there are
        several chips. `topology` is "v5e:2x2", "v5p:2x2x1", "cpu" or "gpu"; without one it is v5e:2x2 where libtpu is
        installed, else what jax has here. `capacity` is another than the chip's: "16GiB", "v6e", bytes. `by` and `top`
        are those of `hbmview.report`; `dump` keeps XLA's dump there.

        A program that is too large is an answer (`fits` is False, `explanation` tells why). Raises FitError where the
        step cannot be compiled at all.
        """
        step = _step(fn, args, kwargs, donate_argnums, compiler_options)
        target = target_of(topology)
        kept, folder = dump_folder(dump)
        return result_of(step, target, told(step, target, folder), Asked(capacity, by, top), kept)

    def lazily(
        self,
        fn: Any,
        *args: Any,
        donate_argnums: Positions = None,
        kwargs: Optional[Mapping[str, Any]] = None,
        compiler_options: Optional[Mapping[str, Any]] = None,
        lever: Optional[str] = None,
    ) -> Step:
        """A variant for `compare`, with what a tuple (fn, *args) cannot say.

        `lever` is the advice that the variant follows ("rematerialize"), where its name does not tell.
        """
        return _step(fn, args, kwargs, donate_argnums, compiler_options, lever)

    def compare(
        self,
        variants: Mapping[str, Any],
        *,
        topology: Any = None,
        donate_argnums: Positions = None,
        capacity: Optional[Size] = None,
        logdir: Optional[str] = None,
        top: int = 10,
    ) -> Comparison:
        """Compiles each variant and sets it beside the first one, and beside what was predicted for that one.

        Values are tuples (fn, *args) or `fit.lazily(...)`. The first variant is what the others are compared with. A
        name such as "batch/2", "remat", "donate" or "bf16" finds the advice that foretold it. A variant that cannot be
        compiled is a row with its reason. `logdir` keeps the dumps there, a session each.
        """
        return compare_steps(variants, target_of(topology), donate_argnums, Asked(capacity, "source", top), logdir)

    def mesh(self, topology: Any, shape: Sequence[int], names: Sequence[str]) -> Any:
        """A jax Mesh of the topology's devices, for shardings of arguments and inside the step."""
        return mesh_on(target_of(topology), shape, names)


def _step(fn: Any, args: Sequence[Any], kwargs: Optional[Mapping[str, Any]], donate_argnums: Positions,
          compiler_options: Optional[Mapping[str, Any]], lever: Optional[str] = None) -> Step:
    if not callable(fn):
        raise FitError(f"fit takes a function and its arguments; {type(fn).__name__} cannot be called", exit_code=2)
    return Step(fn, args, kwargs or {}, donate_argnums, compiler_options or {}, lever)


fit = Fit()
