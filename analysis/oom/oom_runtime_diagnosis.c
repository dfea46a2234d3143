#include "analysis/oom/oom_facts.h"

// --- The runtime ---

void oom_diagnose_program(struct oom_facts *facts) {
    const struct oom_message *message = facts->message;
    const char *asked = oom_size(facts, message->requested_bytes), *free = oom_size(facts, message->free_bytes);
    bool is_known = message->requested_bytes != OOM_ABSENT && message->free_bytes != OOM_ABSENT;
    bool is_in_pieces = is_known && message->requested_bytes <= message->free_bytes;
    if (is_in_pieces) {
        facts->diagnosis->cause = "fragmented";
        oom_say(facts,
                "%s are free in sum, enough for the %s that the program needs, but not in one piece (%s can be "
                "reserved).",
                free, asked, oom_size(facts, message->reservable_bytes));
    } else if (is_known) {
        facts->diagnosis->cause = "program_too_big";
        oom_say(facts, "The program needs %s, and only %s are free.", asked, free);
    }
    oom_say(facts, "Buffers go before programs: when a buffer finds no room the runtime evicts loaded programs, so one "
                   "that loaded before can fail now because more data is held.");
    oom_add_fixes(facts, is_in_pieces ? "unload_programs release_arrays restart_process shared_memory_percent "
                                        "donate_inputs log_allocations profile_memory"
                                      : "release_arrays unload_programs shared_memory_percent halve_batch "
                                        "shard_parameters halve_sequence donate_inputs log_allocations "
                                        "profile_memory");
}

void oom_diagnose_runtime(struct oom_facts *facts) {
    const struct oom_message *message = facts->message;
    const char *asked = oom_size(facts, message->requested_bytes), *free = oom_size(facts, message->free_bytes);
    bool has_free = message->free_bytes != OOM_ABSENT, has_whole = message->reservable_bytes != OOM_ABSENT;
    bool is_in_pieces = has_whole && message->reservable_bytes >= message->requested_bytes;
    if (has_free && message->free_bytes >= message->requested_bytes)
        oom_say(facts, "%s are free, enough for %s, but in pieces.", free, asked);
    else if (has_free)
        oom_say(facts, "A buffer of %s was asked for, and only %s are free.", asked, free);
    if (has_whole)
        oom_say(facts, "Without fragmentation %s could be had in one piece: %s.",
                oom_size(facts, message->reservable_bytes),
                is_in_pieces ? "enough, so fragmentation is the cause"
                             : "still too little, so memory is full rather than fragmented");
    if (is_in_pieces) oom_add_fix(facts, "restart_process");
    oom_add_fixes(facts, "release_arrays donate_inputs unload_programs halve_batch shard_parameters log_allocations "
                         "profile_memory");
}

// --- GPU ---

// What the allocator says of its memory. Whether what was asked for is free, but in pieces.
static bool describe_allocator(struct oom_facts *facts) {
    const struct oom_message *message = facts->message;
    int64_t in_use = oom_message_row(message, "InUse"), limit = oom_message_row(message, "Limit");
    int64_t block = oom_message_row(message, "LargestFreeBlock"), asked = message->requested_bytes;
    if (in_use == OOM_ABSENT || limit == OOM_ABSENT) return false;
    oom_say(facts, "%s were asked for while %s of the %s were in use.", oom_size(facts, asked), oom_size(facts, in_use),
            oom_size(facts, limit));
    if (limit - in_use < asked || block == OOM_ABSENT || block >= asked) return false;
    oom_say(facts, "What is free would be enough, but the largest free block is %s: the memory is fragmented.",
            oom_size(facts, block));
    return true;
}

void oom_diagnose_gpu(struct oom_facts *facts) {
    const struct oom_message *message = facts->message;
    int64_t total = oom_message_row(message, "total allocation");
    int64_t temporary = oom_message_row(message, "preallocated temp allocation");
    oom_say(facts, "One allocation of %s found no room on the GPU.", oom_size(facts, message->requested_bytes));
    if (total != OOM_ABSENT && temporary != OOM_ABSENT)
        oom_say(facts, "The program's buffers take %s, %s (%d %%) of them temporaries.", oom_size(facts, total),
                oom_size(facts, temporary), oom_share_of(temporary, total));
    oom_describe_sum(facts);
    if (describe_allocator(facts)) oom_add_fix(facts, "gpu_allocator_async");
    oom_add_fixes(facts, "donate_inputs rematerialize halve_batch micro_batch bf16_temporaries bf16_parameters "
                         "shard_parameters release_arrays gpu_memory_fraction profile_memory");
}

void oom_diagnose_allocator(struct oom_facts *facts) {
    if (describe_allocator(facts)) oom_add_fix(facts, "gpu_allocator_async");
    oom_add_fixes(facts, "halve_batch release_arrays micro_batch bf16_temporaries gpu_memory_fraction profile_memory");
}
