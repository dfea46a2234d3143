"""What the programs of this author share: which changes make sense for a training step that computes in float32."""
_EITHER = ("bf16_parameters", "bf16_parameters+halve_batch", "halve_batch", "micro_batch", "rematerialize",
           "rematerialize_dots", "shard_parameters", "shard_all")
DONATING = ("donate_inputs", "donate_inputs+halve_batch", "donate_inputs+rematerialize")
IN_FLOAT32 = ("bf16_parameters.follow", "bf16_temporaries")
SEQUENCE = ("halve_sequence",)

TRAINED = _EITHER
TRAINED_IN_FLOAT32 = _EITHER + IN_FLOAT32
