// The tool report about what was measured: memory over time, and who in Python holds device memory.
#include <string.h>

#include "server/mcp/mcp_answers.h"
#include "server/mcp/mcp_place.h"
#include "server/text/json_short.h"

// --- Memory over time ---

static json_int_t peak_of(const json_t *memory) {
    return json_integer_value(json_object_get(memory, "peak_bytes"));
}

// What a memory is told by in a list, with its host.
static json_t *short_memory(const json_t *host, const json_t *memory) {
    static const char *const keys[] = {"memory_id",   "peak_bytes", "lifetime_peak_bytes", "capacity_bytes", "events",
                                       "tells_usage", NULL};
    json_t *row = json_object();
    json_object_set(row, "host", json_object_get(host, "host"));
    mcp_take(row, memory, keys);
    return row;
}

struct chosen {
    const json_t *host, *memory;
};

static bool is_asked(struct mcp_call *call, const char *argument, const json_t *object, const char *key) {
    const char *asked = mcp_text(call, argument), *told = json_string_value(json_object_get(object, key));
    return !asked || (told && !strcmp(asked, told));
}

// All memories into `list`; the one with the highest peak of those that are meant is chosen.
static struct chosen list_memories(struct mcp_call *call, const json_t *hosts, json_t *list) {
    struct chosen chosen = {0};
    for (size_t h = 0; h < json_array_size(hosts); h++) {
        const json_t *host = json_array_get(hosts, h), *memories = json_object_get(host, "memories");
        for (size_t m = 0; m < json_array_size(memories); m++) {
            const json_t *memory = json_array_get(memories, m);
            json_array_append_new(list, short_memory(host, memory));
            bool is_meant = is_asked(call, "host", host, "host") && is_asked(call, "memory_id", memory, "memory_id");
            if (is_meant && (!chosen.memory || peak_of(memory) > peak_of(chosen.memory)))
                chosen = (struct chosen){host, memory};
        }
    }
    return chosen;
}

static bool is_in_error(const json_t *host) {
    const char *state = json_string_value(json_object_get(host, "state"));
    return state && !strcmp(state, "error");
}

static bool tell_no_events(const json_t *hosts, struct error *error) {
    const json_t *host = json_array_get(hosts, 0);
    for (size_t i = 0; i < json_array_size(hosts); i++) {
        if (is_in_error(json_array_get(hosts, i))) host = json_array_get(hosts, i);
    }
    const char *reason = json_string_value(json_object_get(host, "reason"));
    const char *advice = json_string_value(json_object_get(host, "advice"));
    return error_set(error, is_in_error(host) ? ERROR_UNREADABLE : ERROR_NOT_FOUND,
                     "There is no such memory with events in this session. %.200s %.200s", reason ? reason : "",
                     advice ? advice : "");
}

// What fills it at the peak, and what to know of it first.
static bool add_peak(struct mcp_call *call, const char *session, struct chosen chosen, json_t *answer,
                     struct error *error) {
    static const char *const keys[] = {"heap_bytes", "explained_bytes", "unexplained_bytes", "time_ps", "step", NULL};
    static const struct mcp_column wanted[] = {{"op", true},          {"total_bytes", false}, {"occurrences", false},
                                               {"region_type", true}, {"data_type", true},    {"shape", true},
                                               {"first_step", false}, {NULL, false}};
    struct request_argument query[] = {{"session", session},
                                       {"host", json_string_value(json_object_get(chosen.host, "host"))},
                                       {"memory_id", json_string_value(json_object_get(chosen.memory, "memory_id"))},
                                       {0}};
    json_t *breakdown = mcp_ask(call, "memory_profile/breakdown", query, error);
    json_t *findings = breakdown ? mcp_ask(call, "memory_profile/findings", query, error) : NULL,
           *at_peak = json_object();
    if (findings) {
        size_t top = mcp_top(call), count = mcp_row_count(breakdown, "rows", "op");
        mcp_take(at_peak, breakdown, keys);
        json_object_set_new(at_peak, "rows", mcp_rows(breakdown, "rows", wanted, top));
        json_object_set_new(at_peak, "left_out", json_integer(count > top ? (json_int_t)(count - top) : 0));
        json_object_set_new(at_peak, "left_out_bytes",
                            json_integer(mcp_sum_past(breakdown, "rows", "total_bytes", top)));
        json_object_set(answer, "at_peak", at_peak);
        json_object_set(answer, "findings", json_object_get(findings, "findings"));
        if (json_integer_value(json_object_get(breakdown, "unexplained_bytes")) > 0)
            mcp_caveat(call, "unexplained_bytes were in use before the profile began: nobody saw who allocated them.");
    }
    json_decref(at_peak);
    json_decref(breakdown);
    json_decref(findings);
    return findings != NULL;
}

static json_t *memory_report(struct mcp_call *call, const char *session, const json_t *overview, struct error *error) {
    json_t *answer = json_pack("{s:s, s:s, s:[]}", "session", session, "tool", "memory_profile", "memories");
    const json_t *hosts = json_object_get(overview, "hosts");
    struct chosen chosen = list_memories(call, hosts, json_object_get(answer, "memories"));
    bool is_good = chosen.memory ? true : tell_no_events(hosts, error);
    if (is_good) {
        json_object_set_new(answer, "memory", short_memory(chosen.host, chosen.memory));
        mcp_caveats(call, json_object_get(chosen.memory, "notes"));
        is_good = add_peak(call, session, chosen, answer, error);
    }
    if (!is_good) return json_decref(answer), NULL;
    mcp_caveat(call, "Peaks are of the profiled window; lifetime_peak_bytes is the allocator's own high water mark "
                     "since it began.");
    json_shorten_list(answer, "memories", mcp_top(call));
    return answer;
}

json_t *mcp_answer_memory_profile(struct mcp_call *call, struct error *error) {
    const char *session;
    if (!mcp_find_session(call, mcp_text(call, "session"), "memory_profile", &session, error)) return NULL;
    struct request_argument query[] = {{"session", session}, {0}};
    json_t *overview = mcp_ask_until_complete(call, "memory_profile", query, error);
    json_t *answer = overview ? memory_report(call, session, overview, error) : NULL;
    json_decref(overview);
    return answer;
}

// --- Device memory ---

// A name of a frame's function, with its file and line's place.
static json_t *holder_of(const json_t *profile, size_t i) {
    static const char *const figures[] = {"self_bytes", "self_count", "total_bytes", "total_count"};
    const json_t *top = json_object_get(profile, "top"), *functions = json_object_get(profile, "functions");
    const json_t *strings = json_object_get(profile, "strings");
    size_t function = (size_t)json_integer_value(json_array_get(json_object_get(top, "function"), i));
    json_t *row = json_object();
    for (size_t f = 0; f < 2; f++) {
        const char *key = f ? "file" : "name";
        const json_t *number = json_array_get(json_object_get(functions, key), function);
        json_object_set(row, key, json_array_get(strings, (size_t)json_integer_value(number)));
    }
    for (size_t f = 0; f < sizeof figures / sizeof figures[0]; f++)
        json_object_set(row, figures[f], json_array_get(json_object_get(top, figures[f]), i));
    return row;
}

static json_t *short_device_memory(struct mcp_call *call, const json_t *profile) {
    static const char *const keys[] = {"session", "file", "bytes", "count", NULL};
    json_t *answer = json_pack("{s:s, s:[]}", "tool", "device_memory", "functions");
    size_t top = mcp_top(call), count = mcp_row_count(profile, "top", "function");
    mcp_take(answer, profile, keys);
    for (size_t i = 0; i < count && i < top; i++)
        json_array_append_new(json_object_get(answer, "functions"), holder_of(profile, i));
    json_object_set_new(answer, "functions_left_out", json_integer(count > top ? (json_int_t)(count - top) : 0));
    mcp_caveat(call, "total_bytes counts what a function's callees hold as well, so totals of functions overlap; "
                     "self_bytes do not.");
    return answer;
}

json_t *mcp_answer_device_memory(struct mcp_call *call, struct error *error) {
    const char *session;
    if (!mcp_find_session(call, mcp_text(call, "session"), "device_memory", &session, error)) return NULL;
    struct request_argument query[] = {{"session", session}, {"file", mcp_text(call, "file")}, {"frames", "own"}, {0}};
    json_t *profile = mcp_ask(call, "device_memory/profile", query, error);
    json_t *answer = profile ? short_device_memory(call, profile) : NULL;
    json_decref(profile);
    return answer;
}
