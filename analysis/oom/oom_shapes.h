// The wordings of out-of-memory messages, a file for each family. oom_log.c finds where one may begin.
//
//     ... RESOURCE_EXHAUSTED: | Ran out of memory in memory space | hbm. Used 49.34G of 32.00G hbm. ... | next message
//                             ^ anchor                            ^ cursor                              ^ its end
//
// Each parser gets a cursor behind its anchor that ends where the next message begins, fills what it finds whole, and
// leaves the cursor behind what it has understood. False: this is no such message. At the arena's limit strings are
// absent.
#pragma once

#include "analysis/oom/oom_message.h"
#include "analysis/oom/oom_size.h"

typedef bool oom_parser(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message);

oom_parser oom_parse_required;       // "Ran out of memory on": HBM, the total memory required for ... (N) exceeds ...
oom_parser oom_parse_required_tail;  // "total memory required for", its beginning lost
oom_parser oom_parse_oom_name;       // "CompileTimeHbmOom", the rest lost
oom_parser oom_parse_used;           // "Ran out of memory in memory space": hbm. Used N of N hbm.
oom_parser oom_parse_used_tail;      // "Used", its beginning lost
oom_parser oom_parse_cores;          // "TensorCore Hbm usage:"
oom_parser oom_parse_exceeds;        // "Allocation (size="
oom_parser oom_parse_program;        // "Error loading program"
oom_parser oom_parse_reserve;        // "Attempting to reserve", its beginning lost
oom_parser oom_parse_allocate;       // "Attempting to allocate"
oom_parser oom_parse_gpu;            // "Out of memory while trying to allocate"
oom_parser oom_parse_gpu_report;     // "BufferAssignment OOM Debugging", its beginning lost
oom_parser oom_parse_allocator;      // "Allocator ("

// The usage table behind a compiler's message and the list of the largest allocations.
void oom_parse_usage_table(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message);

// Blocks of "1. Size: N" or "Buffer 1: Size: N" with their fields.
void oom_parse_entries(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message);

// Steps over "HLO module: M." when it comes next.
void oom_parse_module(struct oom_cursor *cursor, struct arena *arena, struct oom_message *message);

// A size that ends a sentence or a line. Bare digits must be too many for the beginning of "1023.99M".
bool oom_take_last_size(struct oom_cursor *cursor, int64_t *bytes);
