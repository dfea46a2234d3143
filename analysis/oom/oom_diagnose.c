#include "analysis/oom/oom_diagnose.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/oom/oom_facts.h"
#include "analysis/oom/oom_match.h"

enum { PADDING_SHARE_PERCENT = 20, HALF_PERCENT = 50, BALANCED_PERCENT = 60 };

__attribute__((format(printf, 3, 4))) static void conclude(struct oom_facts *facts, const char *scenario,
                                                           const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *reason = arena_vprintf(facts->arena, format, arguments);
    va_end(arguments);
    facts->diagnosis->scenario = scenario;
    facts->diagnosis->scenario_reason = reason ? reason : "";
}

// --- Scenario 1 ---

static void add_fixes_of_cores(struct oom_facts *facts, bool is_sparse, bool is_dense) {
    if (!is_dense)
        oom_add_fixes(facts, "sparsecore_serialize_tables sparsecore_prefetch sparsecore_padding sparsecore_sharding");
    if (!is_sparse)
        oom_add_fixes(facts, "halve_batch donate_inputs rematerialize bf16_temporaries shard_parameters more_chips");
}

static void diagnose_cores(struct oom_facts *facts) {
    int64_t dense = facts->message->tensorcore_bytes, sparse = facts->message->sparsecore_bytes;
    const char *dense_size = oom_size(facts, dense), *sparse_size = oom_size(facts, sparse);
    if (dense == OOM_ABSENT || sparse == OOM_ABSENT) {
        conclude(facts, "1",
                 "TensorCore (%s) and SparseCore (%s) share one memory; the message is cut, so which side to begin "
                 "with is open.",
                 dense_size, sparse_size);
        add_fixes_of_cores(facts, false, false);
        return;
    }
    bool is_sparse = oom_is_share(sparse, dense + sparse, BALANCED_PERCENT);
    bool is_dense = oom_is_share(dense, dense + sparse, BALANCED_PERCENT);
    const char *side = is_sparse  ? "the SparseCore side is the larger: begin there"
                       : is_dense ? "the TensorCore side is the larger: begin there"
                                  : "neither stands out: both must shrink";
    conclude(facts, "1", "TensorCore takes %s and SparseCore %s (%d %% of the sum) of %s; %s.", dense_size, sparse_size,
             oom_share_of(sparse, dense + sparse), oom_size(facts, facts->capacity), side);
    oom_say(facts, "%s",
            is_sparse  ? "SparseCore: embedding tables, their stack and their prefetched inputs."
            : is_dense ? "TensorCore: the dense part of the model."
                       : "TensorCore and SparseCore are about equally large.");
    add_fixes_of_cores(facts, is_sparse, is_dense);
}

// --- Scenario 2 ---

struct suspect {  // the largest single allocation
    int64_t size_bytes;
    struct bytes name, shape, op_name;
    const char *source;
    const struct oom_buffer *buffer;  // NULL when only the message knows it
};

static struct bytes text_of(const char *text) {
    return text ? bytes_of(text) : (struct bytes){0};
}

static struct suspect largest_of(const struct oom_facts *facts) {
    struct suspect suspect = {.size_bytes = OOM_ABSENT};
    const struct oom_entry *entry = NULL;
    for (size_t i = 0; i < facts->message->entry_count; i++) {
        if (!entry || facts->message->entries[i].size_bytes > entry->size_bytes) entry = &facts->message->entries[i];
    }
    if (entry)
        suspect = (struct suspect){entry->size_bytes,       text_of(entry->label), text_of(entry->shape),
                                   text_of(entry->op_name), entry->source,         NULL};
    if (!facts->evidence || !facts->evidence->largest_count) return suspect;
    const struct oom_buffer *buffer = facts->evidence->largest;
    if (buffer->size_bytes < suspect.size_bytes) return suspect;
    return (struct suspect){buffer->size_bytes,    buffer->words.name, buffer->words.shape,
                            buffer->words.op_name, buffer->source,     buffer};
}

static const char *describe(struct oom_facts *facts, const struct suspect *suspect) {
    return arena_printf(facts->arena, "%s%s%.*s%s%.*s%s%s", oom_size(facts, suspect->size_bytes),
                        suspect->shape.size ? ", " : "", (int)suspect->shape.size, (const char *)suspect->shape.data,
                        suspect->name.size ? ", " : "", (int)suspect->name.size, (const char *)suspect->name.data,
                        suspect->source ? ", from " : "", suspect->source ? suspect->source : "");
}

static bool diagnose_replicated(struct oom_facts *facts) {
    const struct oom_buffer *argument = facts->evidence ? oom_replicated_argument(facts->evidence) : NULL;
    if (!argument || facts->evidence->partitions < 2) return false;
    int64_t sharded = oom_sharded_bytes(facts->evidence, argument);
    struct bytes name = argument->words.op_name.size ? argument->words.op_name : argument->words.name;
    oom_say(facts,
            "The argument %.*s is replicated: each of the %" PRId64 " chips holds all %s of it; divided over them it "
            "would take %s of each.",
            (int)name.size, (const char *)name.data, facts->evidence->partitions, oom_size(facts, argument->size_bytes),
            oom_size(facts, sharded));
    oom_add_fix(facts, "shard_parameters");
    return true;
}

static void diagnose_one(struct oom_facts *facts, const struct suspect *suspect) {
    const char *which = describe(facts, suspect);
    conclude(facts, "2", "One allocation alone is %d %% of the %s there are: %s.",
             oom_share_of(suspect->size_bytes, facts->capacity), oom_size(facts, facts->capacity), which ? which : "");
    bool is_debug = bytes_contains(suspect->op_name, BYTES("debug")) ||
                    bytes_contains(suspect->op_name, BYTES("callback")) ||
                    bytes_contains(suspect->name, BYTES("callback"));
    if (is_debug) {
        oom_say(facts, "It is made for a debug print or a host callback, which needs the whole value in memory.");
        oom_add_fix(facts, "remove_debug_print");
    }
    if (!diagnose_replicated(facts))
        oom_say(facts, "An allocation of this size is seldom meant: look for an array that is not divided over the "
                       "chips, a value that could be computed in blocks, or a dimension that is too large.");
    if (suspect->buffer && suspect->buffer->category == ALLOCATION_OUTPUT)
        oom_say(facts, "It is an output of the program: it exists whole whatever the compiler does.");
    oom_add_fixes(facts, "check_sharding shard_all split_computation remove_debug_print bf16_temporaries more_chips "
                         "profile");
}

// --- Scenario 3 ---

static int64_t row_or(const struct oom_facts *facts, const char *name, int64_t otherwise) {
    int64_t value = oom_message_row(facts->message, name);
    return value == OOM_ABSENT ? otherwise : value;
}

static int64_t padding_of(const struct oom_facts *facts) {
    if (facts->evidence) return facts->evidence->padding_bytes;
    int64_t padded = row_or(facts, "HLO temp padded", 0), unpadded = row_or(facts, "HLO temp unpadded", 0), sum = 0;
    for (size_t i = 0; i < facts->message->entry_count; i++) {
        const struct oom_entry *entry = &facts->message->entries[i];
        bool is_known = entry->size_bytes > entry->unpadded_bytes && entry->unpadded_bytes != OOM_ABSENT;
        if (is_known && sum < INT64_MAX / 2) sum += entry->size_bytes - entry->unpadded_bytes;
    }
    return padded - unpadded > sum ? padded - unpadded : sum;
}

static int64_t arguments_of(const struct oom_facts *facts) {
    return facts->evidence ? facts->evidence->argument_bytes : row_or(facts, "arguments", OOM_ABSENT);
}

static int64_t temporaries_of(const struct oom_facts *facts) {
    if (facts->evidence) return facts->evidence->totals.bytes[ALLOCATION_TEMPORARY];
    return row_or(facts, "HLO temp", OOM_ABSENT);
}

static void begin_with_padding(struct oom_facts *facts) {
    conclude(facts, "3C",
             "No single allocation stands out, but %s of the %s are padding: dimensions are rounded up to the tile.",
             oom_size(facts, padding_of(facts)), oom_size(facts, facts->needed));
    oom_say(facts, "Small or odd dimensions are padded to multiples of 8 and 128.");
    oom_add_fixes(facts, "align_dimensions bf16_temporaries halve_batch profile");
}

static void begin_with_arguments(struct oom_facts *facts) {
    int64_t arguments = arguments_of(facts);
    conclude(facts, "3B",
             "The sum does not fit: of %s needed, %s (%d %%) are the program's arguments, against %s; no setting of "
             "the compiler changes those.",
             oom_size(facts, facts->needed), oom_size(facts, arguments), oom_share_of(arguments, facts->needed),
             oom_size(facts, facts->capacity));
    oom_say(facts, "Parameters, optimizer state and inputs are too large for one chip.");
    oom_add_fixes(facts, "shard_parameters shard_all donate_inputs bf16_parameters host_offload_optimizer more_chips "
                         "profile");
}

static void begin_with_rematerialization(struct oom_facts *facts) {
    int64_t over = facts->needed - facts->capacity;
    conclude(facts, "3E",
             "The sum is only %s (%d %%) over the %s there are, and temporaries are %s: recomputing some of them is "
             "enough.",
             oom_size(facts, over), oom_share_of(over, facts->capacity), oom_size(facts, facts->capacity),
             oom_size(facts, temporaries_of(facts)));
    oom_add_fixes(facts, "rematerialize donate_inputs xla_flags micro_batch halve_batch bf16_temporaries "
                         "host_offload_activations profile");
}

static void begin_with_configuration(struct oom_facts *facts) {
    int64_t temporaries = temporaries_of(facts);
    conclude(facts, "3A",
             "The sum does not fit: of %s needed, %s (%d %%) are temporaries, which grow with the batch, against %s; "
             "no single one is over half of that.",
             oom_size(facts, facts->needed), oom_size(facts, temporaries), oom_share_of(temporaries, facts->needed),
             oom_size(facts, facts->capacity));
    oom_add_fixes(facts, "rematerialize micro_batch halve_batch bf16_temporaries donate_inputs shard_all "
                         "host_offload_activations xla_flags more_chips profile");
}

static void look_closer(struct oom_facts *facts) {
    conclude(facts, "3", "The sum, %s, does not fit into %s; %s.", oom_size(facts, facts->needed),
             oom_size(facts, facts->capacity),
             facts->message->entry_count > 0
                 ? "none of the listed allocations is over half of that"
                 : "the message lists no allocations, so whether a single one is to blame (scenario 2) only the "
                   "program's buffers can tell");
    oom_add_fixes(facts, "profile donate_inputs halve_batch micro_batch bf16_temporaries rematerialize "
                         "shard_parameters align_dimensions xla_flags");
}

static void diagnose_sum(struct oom_facts *facts) {
    int64_t whole = facts->needed, arguments = arguments_of(facts), temporaries = temporaries_of(facts);
    bool is_known = facts->needed != OOM_ABSENT && facts->capacity != OOM_ABSENT;
    oom_describe_sum(facts);
    bool is_close = is_known && oom_is_share(facts->capacity, whole, OOM_PERCENT - OOM_CLOSE_PERCENT);
    if (oom_is_share(padding_of(facts), whole, PADDING_SHARE_PERCENT))
        begin_with_padding(facts);
    else if (oom_is_share(arguments, whole, HALF_PERCENT))
        begin_with_arguments(facts);
    else if (is_close && oom_is_share(temporaries, whole, HALF_PERCENT))
        begin_with_rematerialization(facts);
    else if (oom_is_share(temporaries, whole, HALF_PERCENT))
        begin_with_configuration(facts);
    else
        look_closer(facts);
    diagnose_replicated(facts);
}

static bool is_hbm(const struct oom_message *message) {
    return !message->memory_space || strcmp(message->memory_space, "hbm") == 0;
}

static void diagnose_small_memory(struct oom_facts *facts) {
    oom_say(
        facts,
        "The memory space %s is the chip's own small memory, not HBM: a kernel or a fusion asks for too much of it.",
        facts->message->memory_space);
    oom_add_fixes(facts, "smaller_blocks scoped_vmem_limit profile");
}

static void diagnose_compile(struct oom_facts *facts) {
    if (!is_hbm(facts->message)) {
        diagnose_small_memory(facts);
        return;
    }
    struct suspect suspect = largest_of(facts);
    if (oom_is_share(suspect.size_bytes, facts->capacity, HALF_PERCENT + 1))
        diagnose_one(facts, &suspect);
    else
        diagnose_sum(facts);
}

// The buffer of the instruction that the message names, in the program that has it.
static const struct oom_buffer *blamed_buffer(const struct oom_facts *facts) {
    struct bytes instruction = oom_blamed_instruction(facts->message, facts->arena);
    for (size_t i = 0; facts->evidence && i < facts->evidence->largest_count; i++) {
        const struct oom_buffer *buffer = &facts->evidence->largest[i];
        if (instruction.size && bytes_equal(buffer->words.instruction, instruction)) return buffer;
    }
    return NULL;
}

static void diagnose_exceeding(struct oom_facts *facts) {
    if (!is_hbm(facts->message)) {
        diagnose_small_memory(facts);
        return;
    }
    const struct oom_buffer *blamed = blamed_buffer(facts);
    struct suspect suspect = largest_of(facts);
    if (blamed)
        suspect = (struct suspect){blamed->size_bytes,    blamed->words.name, blamed->words.shape,
                                   blamed->words.op_name, blamed->source,     blamed};
    if (suspect.size_bytes < facts->message->requested_bytes) suspect.size_bytes = facts->message->requested_bytes;
    diagnose_one(facts, &suspect);
}

void oom_diagnose(const struct oom_message *message, const struct oom_evidence *evidence, int64_t capacity_bytes,
                  struct arena *arena, struct oom_diagnosis *diagnosis) {
    *diagnosis = (struct oom_diagnosis){0};
    struct oom_facts facts = {.message = message,
                              .evidence = evidence,
                              .capacity = capacity_bytes == OOM_ABSENT ? message->capacity_bytes : capacity_bytes,
                              .needed = message->needed_bytes,
                              .arena = arena,
                              .diagnosis = diagnosis};
    if (evidence && !oom_is_size_near(message, &evidence->totals)) {
        oom_disagree_on_size(&facts);
        evidence = facts.evidence = NULL;
    }
    if (facts.needed == OOM_ABSENT && evidence) facts.needed = evidence->totals.total_bytes;
    static void (*const rules[OOM_KIND_COUNT])(struct oom_facts *) = {
        [OOM_COMPILE] = diagnose_compile,
        [OOM_TENSORCORE_SPARSECORE] = diagnose_cores,
        [OOM_ALLOCATION_EXCEEDS_MEMORY] = diagnose_exceeding,
        [OOM_PROGRAM_LOAD] = oom_diagnose_program,
        [OOM_RUNTIME_ALLOCATION] = oom_diagnose_runtime,
        [OOM_GPU_ALLOCATION] = oom_diagnose_gpu,
        [OOM_GPU_ALLOCATOR] = oom_diagnose_allocator,
    };
    rules[message->kind](&facts);
    if (evidence) oom_disagreements(&facts);
}
