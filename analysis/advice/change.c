#include "analysis/advice/change.h"

static const struct change changes[] = {
    // --- The program ---
    {"shard_parameters", "shard the parameters",
     "Divide the large arguments over the chips of the mesh; each chip then holds its share only, and "
     "gathers over the network what it needs.",
     "jax.device_put(w, NamedSharding(mesh, PartitionSpec('x', None)))", false},
    {"shard_all", "shard parameters and batch",
     "Divide both the parameters and the batch over the chips (fully sharded data parallelism), and pin "
     "large values in between with sharding hints.",
     "x = jax.lax.with_sharding_constraint(x, PartitionSpec('x', None))", false},
    {"halve_batch", "halve the batch",
     "Give each chip a smaller batch: activations, and in training their gradients, shrink in proportion; the "
     "learning rate then usually needs tuning anew.",
     "batch_size = batch_size // 2", true},
    {"micro_batch", CHANGE_NAME_MICRO_BATCH(""),
     "Keep the batch but run it in n parts and add up the gradients before one update: the activations "
     "of one part only are alive, a step takes longer.",
     CHANGE_CODE_MICRO_BATCH("n"), false},
    {"halve_sequence", "halve the sequence",
     "Use a sequence or context half as long: activations and caches grow with it, attention scores with its "
     "square.",
     "max_sequence_length = max_sequence_length // 2", true},
    {"donate_inputs", "donate the inputs",
     "Donate inputs that are not used after the call, such as old parameters, optimizer state or caches, "
     "so that outputs of the same shape and type take their place. A wrong donation is an error, never "
     "wrong data.",
     "jax.jit(step, donate_argnums=...)  # the arguments that the step returns updated", false},
    {"bf16_parameters", "parameters in bfloat16",
     "Keep parameters in bfloat16: half the bytes of float32. Check that training still converges, or that "
     "the results stay good enough.",
     "params = jax.tree.map(lambda x: x.astype(jnp.bfloat16), params)", true},
    {"int8_weights", "weights in int8",
     "For inference, keep weights in int8 with a scale for each column: a quarter of the bytes of float32, half of "
     "bfloat16. Check that the results stay good enough.",
     "scale = abs(w).max(0) / 127; w8 = jnp.round(w / scale).astype(jnp.int8)", true},
    {"bf16_temporaries", "temporaries in bfloat16",
     "Compute the largest intermediate values in bfloat16 instead of float32. Check that the results "
     "stay good enough.",
     "x = x.astype(jnp.bfloat16)", true},
    {"rematerialize", "rematerialize",
     "Recompute the forward values in the backward pass instead of keeping them: wrap each repeated "
     "block. Same numbers, more arithmetic.",
     "block = jax.checkpoint(block)", false},
    {"rematerialize_dots", "rematerialize all but products",
     "Recompute in the backward pass what is cheap, and attention's scores, but keep the products with "
     "weights: a policy of jax.checkpoint. Same numbers, little more arithmetic, less saved.",
     "block = jax.checkpoint(block, policy=jax.checkpoint_policies.dots_with_no_batch_dims_saveable)", false},
    {"align_dimensions", "align the dimensions",
     "Make the dimensions of large arrays the next smaller multiples of the tile (128 for the innermost, 8 for the "
     "next one), so that nothing is lost to padding. This alters the model.",
     "size = size // 128 * 128", true},
    {"host_offload_optimizer", "optimizer state on the host",
     "Keep the optimizer state in host memory and bring it in for the update. It costs transfers in "
     "every step.",
     "NamedSharding(mesh, spec, memory_kind='pinned_host')", false},
    {"host_offload_activations", "activations on the host",
     "Move saved activations to host memory until the backward pass wants them. It costs transfers in "
     "every step.",
     "jax.checkpoint(f, policy=jax.checkpoint_policies.save_and_offload_only_these_names(...))", false},
    {"remove_debug_print", "remove debug prints",
     "Take out jax.debug.print and other callbacks: they force the whole value into memory to hand it "
     "to the host, and stop fusion around it.",
     "# jax.debug.print(\"{}\", x)", false},
    {"check_sharding", "check the sharding",
     "Compare the shape of the large allocation with what one chip should hold: where no sharding is "
     "given or the mesh has the wrong shape, the compiler copies the whole array to every chip.",
     "jax.debug.inspect_array_sharding(x, callback=print)", false},
    {"split_computation", "split the computation",
     "Do not materialize the large value: compute it in blocks, or reduce it inside the loop that makes "
     "it.",
     "jax.lax.map(f, blocks)", false},
    {"more_chips", "larger or more chips", "Use chips with more memory, or more of them to divide the model over.",
     "a larger or newer TPU slice", false},
    {"xla_flags", "compiler flags",
     "As a last resort let the compiler rematerialize harder; compilation takes longer, steps may too "
     "(pre-fusion rematerialization can move the last digits).",
     "LIBTPU_INIT_ARGS=\"--xla_tpu_rematerialization_algo=PEAK_PRIORITY "
     "--xla_tpu_max_hbm_size_mib=15000 --xla_tpu_rematerialization_max_block_size_limit=32 "
     "--xla_tpu_rematerialization_block_effort_factor=10.0 --xla_tpu_pre_fusion_remat=true\"",
     true},
    {"profile", "look at the buffers",
     "Look at the buffers: dump what the compiler had, or profile a smaller run, and open it here.",
     "XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\" python train.py; hbmview "
     "--logdir=/tmp/dump",
     false},
    // --- SparseCore ---
    {"sparsecore_serialize_tables", "serialize the embedding tables",
     "Let the SparseCore take the embedding tables one after the other: less stack in HBM, less "
     "parallelism. The stack grows with feature width, max_unique_nz_per_row and the number of logical "
     "replicas.",
     "--xla_sc_num_serialized_tables_to_optimize_hbm=4", false},
    {"sparsecore_padding", "widen narrow embedding tables",
     "Check narrow embedding tables: rows are aligned to 32 bytes (8 floats), so a width below 8 wastes "
     "the rest. Join or widen them.",
     "feature_width = 8 * math.ceil(feature_width / 8)", true},
    {"sparsecore_prefetch", "prefetch fewer iterations",
     "Lower maximum_parallel_iterations: each iteration in flight holds its prefetched inputs in the "
     "heap.",
     "maximum_parallel_iterations=1", false},
    {"sparsecore_sharding", "shard the embedding tables",
     "Check that the embedding tables are mod-sharded over all chips.", "table sharding: MOD over all chips", false},
    // --- The TPU runtime ---
    {"release_arrays", "release arrays",
     "Let go of jax.Array objects that are not needed any more (old states, cached batches, metrics "
     "kept on the device): a held reference keeps its memory, and buffers are kept before programs.",
     "x.delete()  # or: del x", false},
    {"unload_programs", "unload programs",
     "Keep fewer compiled programs loaded at a time: each jitted function and each new input shape is "
     "one. Buffers have priority, so programs are evicted for them and must be loaded again.",
     "jax.clear_caches()", false},
    {"shared_memory_percent", "less room for programs",
     "Give programs less room for temporaries with the flag tpu_shared_memory_percent; it can cost "
     "speed.",
     "LIBTPU_INIT_ARGS=\"--tpu_shared_memory_percent=50\"", false},
    {"log_allocations", "log allocations", "Have the allocator list every live allocation at the next failure.",
     "LIBTPU_INIT_ARGS=\"--tpu_log_allocations_on_oom=true\"", false},
    {"profile_memory", "profile the memory", "See what is alive on the device, by Python stack, just before it fails.",
     "jax.profiler.save_device_memory_profile('memory.prof')", false},
    {"restart_process", "restart the process",
     "Free memory lies in pieces: allocate the large, long-lived arrays first, or restart the process "
     "so that memory begins in one piece.",
     "allocate parameters before compiling other programs", false},
    // --- GPU ---
    {"gpu_memory_fraction", "the process's share of the GPU",
     "Look who else uses the GPU, and how much this process may take.", "XLA_PYTHON_CLIENT_MEM_FRACTION=0.95", false},
    {"gpu_allocator_async", "the asynchronous allocator", "Against fragmentation use CUDA's asynchronous allocator.",
     "TF_GPU_ALLOCATOR=cuda_malloc_async", false},
    // --- VMEM ---
    {"smaller_blocks", "smaller blocks",
     "Use smaller blocks in the kernel: its operands and scratch buffers must fit on the chip's "
     "scratchpad together.",
     "pl.BlockSpec((128, 128), ...)", false},
    {"scoped_vmem_limit", "more VMEM for kernels",
     "Give kernels a larger share of VMEM; the compiler's own prefetching gets less.",
     "LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib=32768\"", false},
};

const struct change *change_find(struct bytes id) {
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        if (bytes_equal(bytes_of(changes[i].id), id)) return &changes[i];
    }
    return NULL;
}
