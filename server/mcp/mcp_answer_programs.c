// The tools about compiled programs: which there are, what fills them, who holds it.
#include <stdlib.h>
#include <string.h>

#include "server/mcp/mcp_answers.h"
#include "server/mcp/mcp_place.h"
#include "server/text/json_short.h"

static const char AS_COMPILED[] =
    "Figures of a compiled program come from the compiler's buffer assignment and heap simulation, not from a run: the "
    "program's own code, what the runtime reserves and what other programs hold are not in them.";

// --- sessions ---

static json_t *short_list(const json_t *document, const char *key) {
    static const char *const keys[] = {"name", "modified_s", NULL};
    json_t *list = json_array(), *one;
    size_t i;
    json_array_foreach(json_object_get(document, key), i, one) {
        json_t *row = json_object();
        mcp_take(row, one, keys);
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *all_sessions(struct mcp_call *call, struct error *error) {
    static const char *const keys[] = {"logdir", "sample", "pending", "left_out", NULL};
    json_t *document = mcp_ask(call, "sessions", NULL, error), *answer = json_object();
    if (!document) return json_decref(answer), NULL;
    mcp_take(answer, document, keys);
    json_object_set_new(answer, "sessions", short_list(document, "sessions"));
    json_object_set_new(answer, "device_memory", short_list(document, "device_memory"));
    if (json_is_true(json_object_get(document, "sample")))
        mcp_caveat(call, "No log directory was given: this is the built-in sample, not the user's program.");
    json_decref(document);
    json_shorten(answer, mcp_top(call));
    return answer;
}

static int by_peak(const void *a, const void *b) {
    json_int_t left = mcp_module_peak(*(json_t *const *)a), right = mcp_module_peak(*(json_t *const *)b);
    return (left < right) - (left > right);
}

// The programs, those with the highest peak first.
static json_t *programs_of(struct mcp_call *call, const json_t *modules) {
    static const char *const keys[] = {"name", "host", "state", "memory_spaces", "error", NULL};
    size_t count = json_array_size(modules);
    json_t *programs = json_array(), **rows = arena_new(call->arena, json_t *, count + 1);
    for (size_t i = 0; rows && i < count; i++) rows[i] = json_array_get(modules, i);
    if (rows) qsort(rows, count, sizeof(json_t *), by_peak);
    for (size_t i = 0; rows && i < count; i++) {
        json_t *row = json_object();
        mcp_take(row, rows[i], keys);
        json_array_append_new(programs, row);
    }
    return programs;
}

static json_t *one_session(struct mcp_call *call, const char *session, struct error *error) {
    static const char *const keys[] = {"session", "tools", "devices", "files", "unreadable_files", NULL};
    struct request_argument query[] = {{"session", session}, {0}};
    json_t *glance = mcp_ask(call, "session", query, error), *answer = json_object();
    json_t *list = glance ? mcp_ask_until_complete(call, "modules", query, error) : NULL;
    if (list) {
        mcp_take(answer, glance, keys);
        json_object_set_new(answer, "programs", programs_of(call, json_object_get(list, "modules")));
        json_shorten(answer, mcp_top(call));
        if (json_array_size(json_object_get(answer, "programs"))) mcp_caveat(call, AS_COMPILED);
    }
    json_decref(glance);
    json_decref(list);
    return list ? answer : (json_decref(answer), NULL);
}

json_t *mcp_answer_sessions(struct mcp_call *call, struct error *error) {
    const char *session = mcp_text(call, "session");
    return session ? one_session(call, session, error) : all_sessions(call, error);
}

// --- report ---

static json_t *program_report(struct mcp_call *call, struct error *error) {
    static const char *const keys[] = {"session",       "host",   "module",          "memory_space_name",
                                       "memory_spaces", "totals", "compiler_report", "categories",
                                       "at_peak",       NULL};
    static const struct mcp_column wanted[] = {
        {"size_bytes", false}, {"unpadded_bytes", false}, {"category", false}, {"instruction", true},
        {"shape", true},       {"op_name", true},         {"source", true},    {"logical_buffer_id", false},
        {"start_step", false}, {"end_step", false},       {NULL, false}};
    struct mcp_place place;
    if (!mcp_find_place(call, &place, error)) return NULL;
    struct request_argument query[] = {
        {"session", place.session}, {"module", place.module},
        {"host", place.host},       {"memory_space", mcp_number_text(call, "memory_space")},
        {"columns", "1"},           {0}};
    json_t *document = mcp_ask(call, "memory_view/overview", query, error), *answer = json_object();
    if (!document) return json_decref(answer), NULL;
    mcp_take(answer, document, keys);
    size_t top = mcp_top(call);
    json_t *rows = mcp_rows(document, "largest_at_peak", wanted, top);
    const json_t *at_peak = json_object_get(document, "at_peak");
    json_int_t buffers = json_integer_value(json_object_get(at_peak, "buffers"));
    json_int_t shown_bytes = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        shown_bytes += json_integer_value(json_object_get(json_array_get(rows, i), "size_bytes"));
    json_object_set_new(answer, "largest_at_peak_left_out", json_integer(buffers - (json_int_t)json_array_size(rows)));
    json_object_set_new(answer, "largest_at_peak_left_out_bytes",
                        json_integer(json_integer_value(json_object_get(at_peak, "size_bytes")) - shown_bytes));
    json_object_set_new(answer, "largest_at_peak", rows);
    mcp_caveat(call, AS_COMPILED);
    mcp_caveats(call, json_object_get(document, "notes"));
    json_decref(document);
    return answer;
}

json_t *mcp_answer_report(struct mcp_call *call, struct error *error) {
    const char *tool = mcp_text(call, "tool");
    if (tool && !strcmp(tool, "memory_profile")) return mcp_answer_memory_profile(call, error);
    if (tool && !strcmp(tool, "device_memory")) return mcp_answer_device_memory(call, error);
    return program_report(call, error);
}

// --- who_holds ---

json_t *mcp_answer_who_holds(struct mcp_call *call, struct error *error) {
    static const char *const keys[] = {"session", "host",   "module",     "memory_space",  "by", "rule",
                                       "step",    "weight", "live_bytes", "unknown_bytes", NULL};
    static const struct mcp_column wanted[] = {{"key", false},           {"size_bytes", false}, {"share", false},
                                               {"buffers", false},       {"about", false},      {"place", false},
                                               {"padding_bytes", false}, {NULL, false}};
    struct mcp_place place;
    if (!mcp_find_place(call, &place, error)) return NULL;
    struct request_argument query[] = {{"session", place.session},
                                       {"module", place.module},
                                       {"host", place.host},
                                       {"memory_space", mcp_number_text(call, "memory_space")},
                                       {"by", mcp_text(call, "by")},
                                       {"weight", mcp_text(call, "weight")},
                                       {"step", mcp_number_text(call, "step")},
                                       {0}};
    json_t *document = mcp_ask(call, "memory_view/groups", query, error), *answer = json_object();
    if (!document) return json_decref(answer), NULL;
    size_t top = mcp_top(call), count = mcp_row_count(document, "rows", "key");
    mcp_take(answer, document, keys);
    json_object_set_new(answer, "rows", mcp_rows(document, "rows", wanted, top));
    json_object_set_new(answer, "left_out", json_integer(count > top ? (json_int_t)(count - top) : 0));
    json_object_set_new(answer, "left_out_bytes", json_integer(mcp_sum_past(document, "rows", "size_bytes", top)));
    mcp_caveat(call, AS_COMPILED);
    if (json_integer_value(json_object_get(document, "unknown_bytes")) > 0)
        mcp_caveat(call, "What nothing in the program says a place of is in the row \"(unknown)\".");
    if (!strcmp(json_string_value(json_object_get(document, "by")), "phase"))
        mcp_caveat(call,
                   "Phases are concluded from names and from the program's graph; the compiler does not tell them.");
    json_decref(document);
    return answer;
}
