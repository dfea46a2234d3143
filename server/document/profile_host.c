#include "server/document/profile_host.h"

#include "analysis/profile/questions/timeline_window.h"
#include "server/document/profile_advice.h"
#include "server/document/profile_memory.h"

static const size_t MEMORY_SCRATCH_LIMIT_BYTES = (size_t)2 << 30;

static void stretch(int64_t *begin_ps, int64_t *end_ps, int64_t from_ps, int64_t to_ps) {
    if (from_ps < *begin_ps) *begin_ps = from_ps;
    if (to_ps > *end_ps) *end_ps = to_ps;
}

static void write_span(const struct memory_profile *profile, struct json_writer *w) {
    int64_t begin_ps = 0, end_ps = 0, from_ps, to_ps;
    for (size_t i = 0; i < profile->timeline_count; i++) {
        timeline_whole(&profile->timelines[i], &from_ps, &to_ps);
        stretch(&begin_ps, &end_ps, from_ps, to_ps);
    }
    for (size_t i = 0; i < profile->step_count; i++)
        stretch(&begin_ps, &end_ps, profile->steps[i].begin_ps, profile->steps[i].end_ps);
    for (size_t i = 0; i < profile->module_run_count; i++)
        stretch(&begin_ps, &end_ps, profile->module_runs[i].begin_ps, profile->module_runs[i].end_ps);
    json_write_int64_key(w, "begin_ps", begin_ps);
    json_write_int64_key(w, "end_ps", end_ps);
}

static bool write_memory(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct json_writer *w, struct error *error) {
    struct arena scratch;
    struct profile_memory memory;
    arena_init(&scratch, MEMORY_SCRATCH_LIMIT_BYTES);
    bool is_good = profile_memory_make(profile, timeline, &scratch, &memory, error);
    if (is_good) profile_memory_write(&memory, w);
    arena_free(&scratch);
    return is_good;
}

static bool write_memories(const struct memory_profile *profile, struct json_writer *w, struct error *error) {
    json_open_array_key(w, "memories");
    for (size_t i = 0; i < profile->timeline_count; i++) {
        if (!write_memory(profile, &profile->timelines[i], w, error)) return false;
    }
    json_close_array(w);
    return true;
}

static bool write_profile(const struct memory_profile *profile, struct arena *arena, struct profile_host *host,
                          struct json_writer *w, struct error *error) {
    host->has_events = profile->timeline_count != 0;
    host->has_module_runs = profile->module_run_count != 0;
    host->lacks_events = !host->has_events && profile->fault.code == ERROR_NONE;
    profile_head_write(profile, &profile->fault, profile_state(profile, &profile->fault), w);
    write_span(profile, w);
    json_write_text_key(w, "reason", host->lacks_events ? profile_reason(profile, arena) : "");
    return write_memories(profile, w, error);
}

void profile_host_write_blank(const struct error *fault, struct json_writer *w) {
    static const struct memory_profile nothing = {0};
    profile_head_write(&nothing, fault, fault ? "error" : "loading", w);
    write_span(&nothing, w);
    json_write_text_key(w, "reason", fault ? fault->message : "");
    json_open_array_key(w, "memories");
    json_close_array(w);
}

// --- Kept ---

static bool keep(const struct output *output, struct arena *arena, struct profile_host *host) {
    host->members.size = output->size;
    host->members.data = (const uint8_t *)arena_string(arena, output_bytes(output));
    return !output->failed && host->members.data;
}

static bool fill_host(const struct filling *from, void *thing, struct error *error) {
    const struct work *asker = from->of;
    struct work work;
    struct output output;
    struct error fault;
    work_init_for(&work, asker);
    output_init(&output, OUTPUT_LIMIT_BYTES);
    struct json_writer w = json_writer_on(&output);
    const struct memory_profile *profile = profile_store_load(&work, from->file, &fault);
    bool is_good = profile || file_store_is_lasting(&fault);
    if (!is_good) *error = fault;
    struct profile_host *host = thing;
    if (profile) host->note = profile_left_out(profile, from->file->host, from->arena);
    if (profile)
        is_good = write_profile(profile, &work.arena, host, &w, error);
    else
        profile_host_write_blank(&fault, &w);
    is_good = is_good && (keep(&output, from->arena, host) || work_out_of_memory(error));
    output_free(&output);
    work_free(&work);
    return is_good;
}

static const struct stored_kind host_kind = {.name = "profile_host",
                                             .thing_bytes = sizeof(struct profile_host),
                                             .arena_limit_bytes = OUTPUT_LIMIT_BYTES,
                                             .is_derived = true,
                                             .fill = fill_host};

const struct profile_host *profile_host_known(struct work *work, const struct input_file *file) {
    struct error ignored;
    const char *key = file_store_key(work, host_kind.name, file, &ignored);
    return key ? file_store_peek(work, key) : NULL;
}

const struct profile_host *profile_host_load(struct work *work, const struct input_file *file, struct error *error) {
    const char *key = file_store_key(work, host_kind.name, file, error);
    return key ? file_store_get(work, &host_kind, key, file, work, error) : NULL;
}
