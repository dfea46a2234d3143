#include "server/api/api_parameters.h"

#include <string.h>

static const struct parameter parameters[] = {
    {"session", PARAMETER_TEXT, "A session, by the name that /api/v1/sessions tells."},
    {"module", PARAMETER_TEXT, "A program, by the name that /api/v1/modules tells."},
    {"host", PARAMETER_TEXT,
     "A host, or the name of its file; the first that has what is asked for where none is given."},
    {"memory_space", PARAMETER_INT64, "A memory space of the program, 0 (HBM) where none is given."},
    {"session_b", PARAMETER_TEXT, "The session of the program to compare with; `session` where none is given."},
    {"module_b", PARAMETER_TEXT, "The program to compare with; `module` where none is given."},
    {"host_b", PARAMETER_TEXT, "The host of the program to compare with."},
    {"logical_buffer_id", PARAMETER_INT64, "A logical buffer of the program."},
    {"by", PARAMETER_TEXT, "What groups: source, stack, scope, argument, phase, category, dtype, shape or opcode."},
    {"step", PARAMETER_INT64, "A step of program order; -1, and none, is the peak."},
    {"weight", PARAMETER_TEXT, "What rows are sorted by: size, padding or size_x_lifetime."},
    {"frameworks", PARAMETER_TEXT, "Folders and packages, separated by commas, whose lines are not the reader's own."},
    {"delta", PARAMETER_INT64, "1: columns that mostly grow, as differences. 0: as they are."},
    {"columns", PARAMETER_INT64, "How many parts the curve has."},
    {"top", PARAMETER_INT64, "How many rows there are at most."},
    {"limit", PARAMETER_INT64, "How many there are at most."},
    {"offset", PARAMETER_INT64, "How many to leave out first."},
    {"since", PARAMETER_TEXT, "The `version` of the last answer: only what is new since."},
    {"capacity", PARAMETER_TEXT, "A size (15.75GiB), or a device of /api/v1/devices (v5e)."},
    {"ways", PARAMETER_INT64, "How many chips to shard over."},
    {"batch", PARAMETER_INT64, "The size of the batch dimension, where it is not found."},
    {"sequence", PARAMETER_INT64, "The length of the sequence, where it is not found."},
    {"load", PARAMETER_INT64, "How many further hosts to read for this answer at most."},
    {"first", PARAMETER_TEXT, "The host to read first."},
    {"memory_id", PARAMETER_TEXT, "A memory of the host; the one with the highest peak where none is given."},
    {"from_ps", PARAMETER_INT64, "Where the window begins, in picoseconds."},
    {"to_ps", PARAMETER_INT64, "Where the window ends, in picoseconds; it is not inside."},
    {"buckets", PARAMETER_INT64, "How many parts the window has."},
    {"row", PARAMETER_INT64, "An event, by its place in order of time."},
    {"time_ps", PARAMETER_INT64, "A time, in picoseconds since the profile began."},
    {"only", PARAMETER_TEXT, "unexplained: only events that do not add up."},
    {"op", PARAMETER_TEXT, "An operation; all where none is given."},
    {"tool", PARAMETER_TEXT, "memory_viewer, memory_profile or device_memory."},
    {"file", PARAMETER_TEXT, "A file of the session."},
    {"frames", PARAMETER_TEXT, "all, or own: without those of libraries."},
    {"prefer", PARAMETER_TEXT, "The session to look into first."},
    {"heartbeat", PARAMETER_INT64, "After how many seconds without news a comment is sent."},
    {"last_event_id", PARAMETER_TEXT, "The last event that was heard, as the header Last-Event-ID."},
    {"run", PARAMETER_TEXT, "The session, as the page's address has it."},
    {"tag", PARAMETER_TEXT, "The tool, as the page's address has it."},
    {"module_name", PARAMETER_TEXT, "The program, as the page's address has it."},
    {"run_b", PARAMETER_TEXT, "The session to compare with, as the page's address has it."},
};

const struct parameter *parameter_find(const char *name, size_t size) {
    for (size_t i = 0; i < sizeof parameters / sizeof parameters[0]; i++) {
        const struct parameter *one = &parameters[i];
        if (strlen(one->name) == size && memcmp(one->name, name, size) == 0) return one;
    }
    return NULL;
}
