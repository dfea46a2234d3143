"""Which advice a variant follows, by what people call it: "batch/2" is halve_batch, "remat" is rematerialize."""

from __future__ import annotations

import re
from typing import Dict, Iterable, Optional, Tuple

_NAMES: Dict[str, Tuple[str, ...]] = {
    "halve_batch": ("batch/2", "half batch", "half the batch"),
    "rematerialize": ("remat", "rematerialized", "checkpoint", "checkpointing", "gradient checkpointing"),
    "rematerialize_dots": ("remat dots", "dots saveable", "remat all but dots"),
    "donate_inputs": ("donate", "donated", "donation"),
    "bf16_parameters": ("bf16", "bfloat16", "bf16 params", "bf16 weights"),
    "int8_weights": ("int8", "quantized", "int8 quantization"),
    "bf16_temporaries": ("bf16 activations", "bf16 compute"),
    "shard_parameters": ("tensor parallel", "shard params", "shard weights"),
    "shard_all": ("fsdp", "shard"),
    "align_dimensions": ("align", "aligned"),
    "host_offload_optimizer": ("offload optimizer", "optimizer on host"),
    "host_offload_activations": ("offload activations", "activations on host"),
    "micro_batch": ("micro batches", "gradient accumulation", "accumulate"),
    "halve_sequence": ("sequence/2", "half sequence", "half the sequence", "length/2"),
    "remove_debug_print": ("no debug print", "no print"),
}


def lever_of(variant: str, known: Iterable[str]) -> Optional[str]:
    """One of the `known` ids of advice, or None where the name tells none."""
    wanted = _plain(variant)
    for lever in known:
        if wanted in map(_plain, (lever, *_NAMES.get(lever, ()))):
            return lever
    return None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9/]", "", name.lower())
