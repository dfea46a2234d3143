#include "analysis/oom/oom_facts.h"

// --- The runtime ---

void oom_diagnose_program(struct oom_facts *facts) {
    static const char *const too_big[] = {
        "release_arrays",   "unload_programs", "shared_memory_percent", "halve_batch",    "shard_parameters",
        "shorten_sequence", "donate_inputs",   "log_allocations",       "profile_memory", NULL};
    static const char *const pieces[] = {
        "unload_programs", "release_arrays",  "restart_process", "shared_memory_percent",
        "donate_inputs",   "log_allocations", "profile_memory",  NULL};
    const struct oom_message *message = facts->message;
    struct oom_size_words asked = oom_words_of(message->requested_bytes), free = oom_words_of(message->free_bytes);
    struct oom_size_words reservable = oom_words_of(message->reservable_bytes);
    bool is_known = message->requested_bytes != OOM_ABSENT && message->free_bytes != OOM_ABSENT;
    bool is_in_pieces = is_known && message->requested_bytes <= message->free_bytes;
    if (is_in_pieces) {
        facts->diagnosis->cause = "fragmented";
        oom_add_cause(facts, arena_printf(facts->arena,
                                          "%s are free in sum, enough for the %s that the program needs, but "
                                          "not in one piece (%s can be reserved).",
                                          free.text, asked.text, reservable.text));
    } else if (is_known) {
        facts->diagnosis->cause = "program_too_big";
        oom_add_cause(facts,
                      arena_printf(facts->arena, "The program needs %s, and only %s are free.", asked.text, free.text));
    }
    oom_add_cause(facts,
                  "Buffers go before programs: when a buffer finds no room the runtime evicts loaded programs, so one "
                  "that loaded before can fail now because more data is held.");
    oom_add_fixes(facts, is_in_pieces ? pieces : too_big);
}

void oom_diagnose_runtime(struct oom_facts *facts) {
    static const char *const ids[] = {"release_arrays",   "donate_inputs",   "unload_programs", "halve_batch",
                                      "shard_parameters", "log_allocations", "profile_memory",  NULL};
    const struct oom_message *message = facts->message;
    struct oom_size_words asked = oom_words_of(message->requested_bytes), free = oom_words_of(message->free_bytes);
    struct oom_size_words whole = oom_words_of(message->reservable_bytes);
    bool has_free = message->free_bytes != OOM_ABSENT;
    if (has_free && message->free_bytes >= message->requested_bytes)
        oom_add_cause(facts,
                      arena_printf(facts->arena, "%s are free, enough for %s, but in pieces.", free.text, asked.text));
    else if (has_free)
        oom_add_cause(facts, arena_printf(facts->arena, "A buffer of %s was asked for, and only %s are free.",
                                          asked.text, free.text));
    if (message->reservable_bytes != OOM_ABSENT)
        oom_add_cause(facts,
                      arena_printf(facts->arena, "Without fragmentation %s could be had in one piece: %s.", whole.text,
                                   message->reservable_bytes >= message->requested_bytes
                                       ? "enough, so fragmentation is the cause"
                                       : "still too little, so memory is full rather than fragmented"));
    if (message->reservable_bytes != OOM_ABSENT && message->reservable_bytes >= message->requested_bytes)
        oom_add_fix(facts, "restart_process");
    oom_add_fixes(facts, ids);
}

// --- GPU ---

void oom_diagnose_gpu(struct oom_facts *facts) {
    static const char *const ids[] = {"donate_inputs",
                                      "rematerialize",
                                      "halve_batch",
                                      "micro_batch",
                                      "bf16_temporaries",
                                      "bf16_parameters",
                                      "shard_parameters",
                                      "release_arrays",
                                      "gpu_memory_fraction",
                                      "profile_memory",
                                      NULL};
    const struct oom_message *message = facts->message;
    int64_t total = oom_message_row(message, "total allocation");
    int64_t temporary = oom_message_row(message, "preallocated temp allocation");
    struct oom_size_words asked = oom_words_of(message->requested_bytes), sum = oom_words_of(total),
                          part = oom_words_of(temporary);
    oom_add_cause(facts, arena_printf(facts->arena, "One allocation of %s found no room on the GPU.", asked.text));
    if (total != OOM_ABSENT && temporary != OOM_ABSENT)
        oom_add_cause(facts,
                      arena_printf(facts->arena, "The program's buffers take %s, %s (%d %%) of them temporaries.",
                                   sum.text, part.text, oom_share_of(temporary, total)));
    oom_describe_sum(facts);
    oom_add_fixes(facts, ids);
}

void oom_diagnose_allocator(struct oom_facts *facts) {
    static const char *const ids[] = {"halve_batch",         "release_arrays", "micro_batch", "bf16_temporaries",
                                      "gpu_memory_fraction", "profile_memory", NULL};
    const struct oom_message *message = facts->message;
    int64_t in_use = oom_message_row(message, "InUse"), block = oom_message_row(message, "LargestFreeBlock");
    struct oom_size_words asked = oom_words_of(message->requested_bytes), used = oom_words_of(in_use);
    struct oom_size_words limit = oom_words_of(message->capacity_bytes), largest = oom_words_of(block);
    bool is_known = in_use != OOM_ABSENT && message->capacity_bytes != OOM_ABSENT;
    bool is_in_pieces = is_known && message->capacity_bytes - in_use >= message->requested_bytes;
    if (is_known)
        oom_add_cause(facts, arena_printf(facts->arena, "%s were asked for while %s of the %s were in use.", asked.text,
                                          used.text, limit.text));
    if (is_in_pieces) {
        oom_add_cause(facts, arena_printf(facts->arena,
                                          "What is free would be enough, but the largest free block is %s: "
                                          "the memory is fragmented.",
                                          largest.text));
        oom_add_fix(facts, "gpu_allocator_async");
    }
    oom_add_fixes(facts, ids);
}
