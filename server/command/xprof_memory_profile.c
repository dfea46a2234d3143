// hbmview get_memory_profile: XProf's figures of one host's memory over time.
#include <stdio.h>
#include <stdlib.h>

#include "server/command/xprof_command.h"

#include "server/json_read.h"

static const char help[] =
    "hbmview get_memory_profile: XProf's command of that name\n"
    "\n"
    "  hbmview get_memory_profile PATH [--session_id S] [--host H]\n"
    "\n"
    "Capacity, peak and what it is made of, in GiB, as JSON. -1.0 is what was not measured:\n"
    "a profile without the allocator's events has no figure at all. hbmview report PATH\n"
    "--tool=memory_profile tells more, in bytes.\n"
    "\n"
    "  --logdir PATH     another way to give PATH\n"
    "  --session_id S    a session of PATH (the newest)\n"
    "  --host H          the host, where the session has several\n"
    "  --bypass_cache B  taken, and without effect: nothing is cached in files\n" STORAGE_FLAGS_HELP "  --help\n"
    "\n"
    "Exit codes: 0 good; 2 wrong usage; 3 something could not be read.\n";

enum { GIB = 1 << 30, DIGITS = 15 };

struct figures {
    json_int_t capacity, peak, stack, heap, free;
    double fragmentation;
};

static json_int_t number_of(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value)) return strtoll(json_string_value(value), NULL, 10);
    return value ? json_integer_value(value) : -1;
}

// The memory with the highest peak; the largest capacity of them all.
static struct figures figures_of(const json_t *profile) {
    struct figures figures = {-1, -1, -1, -1, -1, -1};
    const char *name;
    json_t *memory;
    json_object_foreach(json_object_get(profile, "memoryProfilePerAllocator"), name, memory) {
        const json_t *summary = json_object_get(memory, "profileSummary"),
                     *peak = json_object_get(summary, "peakStats");
        json_int_t capacity = number_of(summary, "memoryCapacity"), bytes = number_of(peak, "peakBytesInUse");
        if (capacity > figures.capacity) figures.capacity = capacity;
        if (bytes <= figures.peak) continue;
        figures.peak = bytes;
        figures.stack = number_of(peak, "stackReservedBytes");
        figures.heap = number_of(peak, "heapAllocatedBytes");
        figures.free = number_of(peak, "freeMemoryBytes");
        const json_t *fragmentation = json_object_get(peak, "fragmentation");
        figures.fragmentation = fragmentation ? json_number_value(fragmentation) : -1;
    }
    return figures;
}

// Two decimals, rounded as Python does: by the exact value.
static double rounded(double value) {
    char text[64];
    snprintf(text, sizeof text, "%.2f", value);
    return strtod(text, NULL);
}

static double in_gib(json_int_t bytes, bool is_known) {
    return is_known ? rounded((double)bytes / GIB) : -1;
}

static json_t *document_of(const struct xprof_command *command, const struct figures *f) {
    double capacity = in_gib(f->capacity, f->capacity > 0), peak = in_gib(f->peak, f->peak > 0);
    double used = capacity > 0 && peak > 0 ? rounded(peak / capacity * 100) : -1;
    double pieces = f->fragmentation >= 0 ? rounded(f->fragmentation * 100) : -1;
    return json_pack("{s:o, s:f, s:f, s:{s:f, s:f, s:f, s:f, s:f}}", "capture", xprof_command_capture(command),
                     "memory_capacity_gib", capacity, "peak_memory_usage_gib", peak, "peak_usage_details",
                     "stack_reservation_gib", in_gib(f->stack, f->stack >= 0), "heap_allocation_gib",
                     in_gib(f->heap, f->heap >= 0), "free_memory_gib", in_gib(f->free, f->free >= 0),
                     "fragmentation_percent", pieces, "utilization_percent", used);
}

static const char *names_of(struct xprof_command *command) {
    const char *names = "";
    for (size_t i = 0; names && i < json_array_size(command->hosts); i++)
        names = arena_printf(&command->work.arena, "%s\n  %s", names,
                             json_string_value(json_array_get(command->hosts, i)));
    return names ? names : "";
}

static json_t *answer(struct xprof_command *command) {
    bool is_good;
    size_t count = json_array_size(command->hosts);
    if (count != 1) {
        error_set(
            &command->error, ERROR_BAD_REQUEST,
            "get_memory_profile needs exactly one trace, but %zu were found in %.100s:%.260s\nPass one .xplane.pb "
            "file path or --host=<name>.",
            count, command->path, names_of(command));
        return NULL;
    }
    struct request_argument query[] = {{"tag", "memory_profile"},
                                       {"run", command->session},
                                       {"host", json_string_value(json_array_get(command->hosts, 0))},
                                       {0}};
    struct bytes body = xprof_command_ask(command, "data", query, &is_good);
    if (!is_good) return NULL;
    json_t *profile = json_read(body, 0, NULL);  // nothing: no host plane
    struct figures figures = figures_of(profile);
    json_decref(profile);
    return document_of(command, &figures);
}

static enum exit_code run(struct xprof_command *command) {
    json_t *document = xprof_command_begin(command) ? answer(command) : NULL;
    enum exit_code code = xprof_command_write(command, document, DIGITS);
    json_decref(document);
    return code;
}

enum exit_code get_memory_profile_run(int count, char *const arguments[]) {
    struct xprof_command command = {.name = "get_memory_profile"};
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = xprof_command_parse(&command, count, arguments, NULL, 0, problem);
    const char *told = is_good && command.serving.show_help ? help : NULL;
    if (command_begins(is_good ? NULL : problem, told, &code)) code = run(&command);
    xprof_command_end(&command);
    return code;
}
