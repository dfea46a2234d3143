#include "analysis/oom/oom_fixes.h"

static const struct oom_fix fixes[] = {
    // --- The program ---
    {"shard_parameters",
     "Divide the large arguments over the chips of the mesh; each chip then holds its share only, and "
     "gathers over the network what it needs.",
     "jax.device_put(w, NamedSharding(mesh, PartitionSpec('model', None)))", false, -1},
    {"shard_all",
     "Divide both the parameters and the batch over the chips (fully sharded data parallelism), and pin "
     "large values in between with sharding hints.",
     "x = jax.lax.with_sharding_constraint(x, PartitionSpec('data', None))", false, -1},
    {"halve_batch",
     "Give each chip a smaller batch: activations and their gradients shrink in proportion. The "
     "learning rate usually needs tuning anew.",
     "batch_size = batch_size // 2", true, -1},
    {"micro_batch",
     "Keep the batch but run it in n parts and add up the gradients before one update: the activations "
     "of one part only are alive, a step takes longer.",
     "optimizer = optax.MultiSteps(optimizer, every_k_schedule=4)", false, -1},
    {"shorten_sequence",
     "Use a shorter sequence or context: activations grow with it, attention scores with its square.",
     "max_sequence_length = 1024", true, -1},
    {"donate_inputs",
     "Donate inputs that are not used after the call, such as the old parameters and optimizer state, "
     "so that outputs of the same shape and type take their place. A wrong donation is an error, never "
     "wrong data.",
     "jax.jit(step, donate_argnums=(0, 1))", false, -1},
    {"bf16_parameters", "Keep parameters in bfloat16: half the bytes of float32. Check that training still converges.",
     "params = jax.tree.map(lambda x: x.astype(jnp.bfloat16), params)", true, -1},
    {"bf16_temporaries",
     "Compute the largest intermediate values in bfloat16 instead of float32. Check that the results "
     "stay good enough.",
     "x = x.astype(jnp.bfloat16)", true, -1},
    {"rematerialize",
     "Recompute the forward values in the backward pass instead of keeping them: wrap each repeated "
     "block. Same numbers, more arithmetic.",
     "block = jax.checkpoint(block)", false, -1},
    {"align_dimensions",
     "Make the dimensions of large arrays multiples of the tile (128 for the innermost, 8 for the next "
     "one), so that nothing is lost to padding. This alters the model.",
     "vocabulary = 128 * math.ceil(vocabulary / 128)", true, -1},
    {"host_offload_optimizer",
     "Keep the optimizer state in host memory and bring it in for the update. It costs transfers in "
     "every step.",
     "NamedSharding(mesh, spec, memory_kind='pinned_host')", false, -1},
    {"host_offload_activations",
     "Move saved activations to host memory until the backward pass wants them. It costs transfers in "
     "every step.",
     "jax.checkpoint(f, policy=jax.checkpoint_policies.save_and_offload_only_these_names(...))", false, -1},
    {"remove_debug_print",
     "Take out jax.debug.print and other callbacks: they force the whole value into memory to hand it "
     "to the host, and stop fusion around it.",
     "# jax.debug.print(\"{}\", x)", false, -1},
    {"check_sharding",
     "Compare the shape of the large allocation with what one chip should hold: where no sharding is "
     "given or the mesh has the wrong shape, the compiler copies the whole array to every chip.",
     "jax.debug.inspect_array_sharding(x, callback=print)", false, -1},
    {"split_computation",
     "Do not materialize the large value: compute it in blocks, or reduce it inside the loop that makes "
     "it.",
     "jax.lax.map(f, blocks)", false, -1},
    {"more_chips", "Use chips with more memory, or more of them to divide the model over.",
     "a larger or newer TPU slice", false, -1},
    {"xla_flags",
     "As a last resort let the compiler rematerialize harder; compilation takes longer, steps may too "
     "(pre-fusion rematerialization can move the last digits).",
     "LIBTPU_INIT_ARGS=\"--xla_tpu_rematerialization_algo=PEAK_PRIORITY "
     "--xla_tpu_max_hbm_size_mib=15000 --xla_tpu_rematerialization_max_block_size_limit=32 "
     "--xla_tpu_rematerialization_block_effort_factor=10.0 --xla_tpu_pre_fusion_remat=true\"",
     true, -1},
    {"profile", "Look at the buffers: dump what the compiler had, or profile a smaller run, and open it here.",
     "XLA_FLAGS=\"--xla_dump_to=/tmp/dump --xla_dump_hlo_as_proto\" python train.py; hbmview "
     "--logdir=/tmp/dump",
     false, -1},
    // --- SparseCore ---
    {"sparsecore_serialize_tables",
     "Let the SparseCore take the embedding tables one after the other: less stack in HBM, less "
     "parallelism. The stack grows with feature width, max_unique_nz_per_row and the number of logical "
     "replicas.",
     "--xla_sc_num_serialized_tables_to_optimize_hbm=4", false, -1},
    {"sparsecore_padding",
     "Check narrow embedding tables: rows are aligned to 32 bytes (8 floats), so a width below 8 wastes "
     "the rest. Join or widen them.",
     "feature_width = 8 * math.ceil(feature_width / 8)", true, -1},
    {"sparsecore_prefetch",
     "Lower maximum_parallel_iterations: each iteration in flight holds its prefetched inputs in the "
     "heap.",
     "maximum_parallel_iterations=1", false, -1},
    {"sparsecore_sharding", "Check that the embedding tables are mod-sharded over all chips.",
     "table sharding: MOD over all chips", false, -1},
    // --- The TPU runtime ---
    {"release_arrays",
     "Let go of jax.Array objects that are not needed any more (old states, cached batches, metrics "
     "kept on the device): a held reference keeps its memory, and buffers are kept before programs.",
     "x.delete()  # or: del x", false, -1},
    {"unload_programs",
     "Keep fewer compiled programs loaded at a time: each jitted function and each new input shape is "
     "one. Buffers have priority, so programs are evicted for them and must be loaded again.",
     "jax.clear_caches()", false, -1},
    {"shared_memory_percent",
     "Give programs less room for temporaries with the flag tpu_shared_memory_percent; it can cost "
     "speed.",
     "LIBTPU_INIT_ARGS=\"--tpu_shared_memory_percent=50\"", false, -1},
    {"log_allocations", "Have the allocator list every live allocation at the next failure.",
     "LIBTPU_INIT_ARGS=\"--tpu_log_allocations_on_oom=true\"", false, -1},
    {"profile_memory", "See what is alive on the device, by Python stack, just before it fails.",
     "jax.profiler.save_device_memory_profile('memory.prof')", false, -1},
    {"restart_process",
     "Free memory lies in pieces: allocate the large, long-lived arrays first, or restart the process "
     "so that memory begins in one piece.",
     "allocate parameters before compiling other programs", false, -1},
    // --- GPU ---
    {"gpu_memory_fraction", "Look who else uses the GPU, and how much this process may take.",
     "XLA_PYTHON_CLIENT_MEM_FRACTION=0.95", false, -1},
    {"gpu_allocator_async", "Against fragmentation use CUDA's asynchronous allocator.",
     "TF_GPU_ALLOCATOR=cuda_malloc_async", false, -1},
    // --- VMEM ---
    {"smaller_blocks",
     "Use smaller blocks in the kernel: its operands and scratch buffers must fit on the chip's "
     "scratchpad together.",
     "pl.BlockSpec((128, 128), ...)", false, -1},
    {"scoped_vmem_limit", "Give kernels a larger share of VMEM; the compiler's own prefetching gets less.",
     "LIBTPU_INIT_ARGS=\"--xla_tpu_scoped_vmem_limit_kib=32768\"", false, -1},
};

const struct oom_fix *oom_fix_find(struct bytes id) {
    for (size_t i = 0; i < sizeof fixes / sizeof fixes[0]; i++) {
        if (bytes_equal(bytes_of(fixes[i].id), id)) return &fixes[i];
    }
    return NULL;
}
