"""Options of XLA's that change how much memory a program takes: those that are tried one by one, and limits.

An option that a compiler does not know is a row with that reason. Which of them helps differs from program to program,
and none says what it costs in time: that is for a run to tell.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .._fit import words

Options = Dict[str, Any]


class Limit(NamedTuple):
    """Less memory than the chip has, for the compiler to find its own way."""

    id: str
    name: str
    options: Options


MEMORY_LIMIT = "memory_limit"
_REMATERIALIZATION = "xla_jf_rematerialization_percent_shared_memory_limit"
_GPU_REMATERIALIZATION = "xla_gpu_memory_limit_slop_factor"  # percent of the device that a program may take

_OF_TPU: Tuple[Options, ...] = (
    {"xla_tpu_rwb_fusion": False},
    {"xla_tpu_dot_dot_fusion": False},
    {"xla_tpu_nested_dot_fusion": False},
    {"xla_tpu_scoped_vmem_limit_kib": 8192},
    {"xla_tpu_scoped_vmem_limit_kib": 65536},
    {"xla_tpu_enable_latency_hiding_scheduler": False},
    {"xla_tpu_scheduler_percent_shared_memory_limit": 50},
    {"xla_latency_hiding_scheduler_rerun": 3},
    {"xla_memory_scheduler": "list"},
    {"xla_jf_conv_input_fusion": False},
    {"xla_jf_enable_multi_output_fusion": False},
    {"xla_tpu_enable_async_collective_fusion": False},
    {"xla_tpu_pre_fusion_remat": True},
    {_REMATERIALIZATION: 50},
    {_REMATERIALIZATION: 1},
)
_OF_GPU: Tuple[Options, ...] = (
    {"xla_gpu_enable_latency_hiding_scheduler": True},
    {_GPU_REMATERIALIZATION: 1},
    {"xla_gpu_enable_triton_gemm": False},
    {"xla_gpu_enable_command_buffer": ""},
)
_OF_CPU: Tuple[Options, ...] = (
    {"xla_cpu_enable_concurrency_optimized_scheduler": False},
    {"xla_cpu_copy_insertion_use_region_analysis": True},
)


def tried(backend: Optional[str]) -> List[Options]:
    """Those that a program of that backend is tried with; None is a TPU's."""
    return list({"gpu": _OF_GPU, "cpu": _OF_CPU}.get(backend or "", _OF_TPU))


def together(totals: Sequence[Tuple[Options, Optional[int]]], base: Optional[int]) -> Options:
    """Of options with their totals all that bring less than `base`, each by its best value; {} of fewer than two."""
    less = [(total, options) for options, total in totals if total is not None and base is not None and total < base]
    made: Options = {}
    for _, options in sorted(less, key=lambda one: one[0], reverse=True):  # the best value is written last
        made.update(options)
    return made if len(made) > 1 else {}


def limits(capacity: Optional[int], usable: Optional[int], backend: Optional[str] = None) -> List[Limit]:
    """`capacity` is what was asked about, `usable` what a program may use of the chip; bytes, None where not known.

    The last one tells the compiler that nearly all memory is taken, so that it rematerializes what it can. That alone
    is for GPUs, and nothing for `backend` "cpu".
    """
    if backend == "cpu":
        return []
    made = []
    if backend is None and capacity and usable and capacity < usable:
        made.append(Limit(MEMORY_LIMIT, f"as it is, within {words.size(capacity)}",
                          {"xla_tpu_user_reserved_hbm_bytes": usable - capacity}))
    name = "as it is, rematerialized by the compiler"
    option = _GPU_REMATERIALIZATION if backend == "gpu" else _REMATERIALIZATION
    return [*made, Limit("compiler_rematerialization", name, {option: 1})]
