// @ts-check
// What the changes are called that would bring a program's memory down. Pure.

const NAMES = {
  donate_inputs: "Donate the inputs",
  halve_batch: "Halve the batch",
  bf16_parameters: "Parameters in bfloat16",
  bf16_temporaries: "Temporaries in bfloat16",
  rematerialize: "Rematerialize",
  shard_parameters: "Shard the parameters",
  shard_all: "Shard parameters and batch",
  align_dimensions: "Align the dimensions",
  host_offload_optimizer: "Optimizer state on the host",
  host_offload_activations: "Activations on the host",
  remove_debug_print: "Remove debug prints",
  micro_batch: "Micro-batches",
  xla_flags: "XLA flags",
  profile: "Look at the buffers",
};

/** One that this page does not know is named by its id. */
export function nameOfChange(id) {
  const words = (id ?? "").replaceAll("_", " ");
  return NAMES[id] ?? words.charAt(0).toUpperCase() + words.slice(1);
}
