"""Finds what `python -m hbmview fit module:function` is about: the step and its arguments.

    train:step              train.step.hbmview_args is a tuple, or a function that makes it       step(*args)
    train:make              a function without parameters, that returns (fn, *args),              fn(*args)
                            fit.lazily(fn, *args), or {"base": ..., "remat": ...}                 several: compare
    train:step --args ...   arrays by type and shape, as XLA writes them: f32[8,128] s32[8]       step(*args)

The module is one that Python imports from the folder it is started in, or a file: path/train.py:step.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import sys
from typing import Any, Callable, List, Mapping, Sequence, Union, cast

from .compiling import Step
from .targets import FitError

_TYPES = {
    "pred": "bool", "bool": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "i8": "int8",
    "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
_ARRAY = re.compile(r"([a-z]+\d*)\[([\d,\s]*)\]")


def wanted_of(name: str, args: Sequence[str]) -> Union[Step, Mapping[str, Any]]:
    """What "module:function" means: one step, or variants by name. Raises FitError, which says what to write."""
    fn = _found(name)
    if args:
        return Step(fn, arrays_of(args))
    told = getattr(fn, "hbmview_args", None)
    if told is not None:
        made = _called(name, told) if callable(told) else told
        return Step(fn, made if isinstance(made, (tuple, list)) else (made,))
    if _needs_parameters(fn):
        raise FitError(
            f"what are the arguments of {name}? Give them as --args 'f32[8,128] s32[8]', set "
            f"{name.split(':')[1]}.hbmview_args to a tuple of arrays or jax.ShapeDtypeStructs (or a function that "
            "returns it), or name a function without parameters that returns (step, *args)", exit_code=2)
    return _step_or_variants(name, fn)


def arrays_of(texts: Sequence[str]) -> List[Any]:
    """Abstract arrays of "f32[8,128]", several in a text or one in each."""
    import jax
    import jax.numpy as jnp

    arrays = []
    for text in texts:
        left = _ARRAY.sub("", text).replace(",", "").strip()
        found = _ARRAY.findall(text)
        unknown = [kind for kind, _ in found if kind not in _TYPES]
        if left or not found or unknown:
            raise FitError(f'--args wants arrays such as f32[8,128] or bf16[1024], parted by blanks, not "{text}"', 2)
        for kind, sides in found:
            shape = tuple(int(side) for side in sides.replace(" ", "").split(",") if side)
            arrays.append(jax.ShapeDtypeStruct(shape, jnp.dtype(_TYPES[kind])))
    return arrays


def _found(name: str) -> Callable[..., Any]:
    module_name, colon, path = name.rpartition(":")
    if not colon or not module_name or not path:
        raise FitError(f'fit wants module:function, as train:step or path/train.py:step, not "{name}"', exit_code=2)
    found: Any = _module(module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            raise FitError(f"{module_name} has no {path}", exit_code=2)
        found = getattr(found, part)
    if not callable(found):
        raise FitError(f"{name} is no function", exit_code=2)
    return cast(Callable[..., Any], found)


def _module(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        if not name.endswith(".py"):
            return importlib.import_module(name)
        sys.path.insert(0, os.path.dirname(os.path.abspath(name)))
        spec = importlib.util.spec_from_file_location(os.path.basename(name)[:-3], name)
        if spec is None or spec.loader is None:
            raise FitError(f"{name} is no Python file", exit_code=2)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module
    except FitError:
        raise
    except Exception as error:
        raise FitError(f"{name} cannot be imported: {type(error).__name__}: {error}") from error


def _needs_parameters(fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters)


def _called(name: str, fn: Callable[[], Any]) -> Any:
    try:
        return fn()
    except Exception as error:
        raise FitError(f"{name} could not make its arguments: {type(error).__name__}: {error}") from error


def _step_or_variants(name: str, fn: Callable[[], Any]) -> Union[Step, Mapping[str, Any]]:
    made = _called(name, fn)
    if isinstance(made, (Step, Mapping)):
        return made
    if isinstance(made, tuple) and made and callable(made[0]):
        return Step(made[0], made[1:])
    raise FitError(
        f"{name} has no parameters, so it should return (step, *args), fit.lazily(step, *args) or a dict of such by "
        f"name, not {type(made).__name__}", exit_code=2)
