// @ts-check
/**
 * The messages that are known: how each begins, when it comes, and what it means. Pure.
 * @typedef {{title: string, when: string}} Kind
 */

/** Of each `kind` of the API. @type {Record<string, Kind>} */
export const KINDS = {
  compile_oom: { title: "The program does not fit", when: "while compiling" },
  tensorcore_sparsecore_oom: { title: "TensorCore and SparseCore do not fit together", when: "while compiling" },
  allocation_exceeds_memory: { title: "One buffer is larger than the memory", when: "while compiling" },
  program_load: { title: "No room to load the program", when: "while loading a compiled program" },
  runtime_allocation: { title: "No room for a buffer", when: "while running" },
  gpu_allocation: { title: "The GPU has no room for what a program needs", when: "while running" },
  gpu_allocator: { title: "The GPU's allocator ran out of memory", when: "while running" },
};

export function kindOf(message) {
  return KINDS[message.kind] ?? { title: message.kind, when: "" };
}

/** The eight wordings, as a person would recognize them. */
export const WORDINGS = [
  {
    words: "E1000: CompileTimeHbmOom: Ran out of memory on HBM …",
    means: "TPU compiler: all buffers of the program together need more than the chip has",
  },
  {
    words: "XLA:TPU compile permanent error. Ran out of memory in memory space hbm …",
    means: "the same, with what is reserved, the arguments, and the largest allocations; vmem and smem too",
  },
  {
    words: "TPU TensorCore Hbm usage: …, SparseCore Hbm usage …",
    means: "TPU compiler: the two kinds of cores share the memory, and together they want too much",
  },
  {
    words: "Allocation (size=…) would exceed memory (size=…)",
    means: "TPU compiler: a single buffer is already too large",
  },
  {
    words: "Error loading program '…': Attempting to reserve …",
    means: "0101: the program compiled, but what is free now does not hold it, or not in one piece",
  },
  {
    words: "Attempting to allocate …. That was not possible.",
    means: "TPU runtime: an array or an output found no room beside what is held already",
  },
  {
    words: "Out of memory while trying to allocate … bytes.",
    means: "XLA on a GPU: what a program needs, often with its peak buffers",
  },
  {
    words: "Allocator (GPU_0_bfc) ran out of memory trying to allocate …",
    means: "the GPU's allocator of TensorFlow and JAX, with its chunks and statistics",
  },
];
