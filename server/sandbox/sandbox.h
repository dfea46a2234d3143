// A cage around the process: what it still may, once it has what it needs and before it reads what others wrote.
//
//     no_new_privs    nothing it could start would gain rights
//     file_rules      which files (landlock): those places, and no others
//     call_rules      which system calls (seccomp): no programs, no processes, no writing, no connections
//
// Each holds for good, for this thread and all that it starts; none can be taken back. Where the kernel lacks one, the
// others hold, and sandbox_text says which is missing. There is none in a build that is instrumented (IS_INSTRUMENTED:
// sanitizers start processes and write reports, coverage writes its counts).
#pragma once

#include "analysis/base/arena.h"
#include "server/sandbox/file_rules.h"

struct sandbox_needs {
    const struct file_place *places;  // they outlive the sandbox's text
    size_t place_count;
    bool connects;  // opens connections
};

struct sandbox {
    bool is_instrumented;
    int privileges_failure, calls_failure;  // errno; 0: they are imposed
    struct file_rules files;
};

// To be called while there is one thread.
struct sandbox sandbox_enter(const struct sandbox_needs *needs);

// Whether all of it holds; an instrumented build has none by intent.
bool sandbox_holds(const struct sandbox *sandbox);

// What holds, and what does not and why: one line without its end, on the arena. NULL: no memory.
const char *sandbox_text(const struct sandbox *sandbox, const struct sandbox_needs *needs, struct arena *arena);
