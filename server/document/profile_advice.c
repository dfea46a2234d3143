#include "server/document/profile_advice.h"

#include <inttypes.h>

#include "server/text/error_json.h"
#include "server/text/fields.h"

const char profile_no_file_note[] = "This session has no .xplane.pb file: memory over time is recorded in those only.";
const char profile_clocks_note[] =
    "Times count from the start of each host's own profile; the hosts' clocks are not compared.";

const char *profile_state(const struct memory_profile *profile, const struct error *fault) {
    if (profile->timeline_count) return "events";
    if (fault->code != ERROR_NONE) return "error";
    return profile->has_host_plane ? "no_events" : "no_host_plane";
}

static const struct field count_fields[] = {
    FIELD("events", struct memory_profile, event_count),
    FIELD("other_events", struct memory_profile, other_event_count),
    FIELD("left_out_events", struct memory_profile, left_out_count),
    FIELD("steps", struct memory_profile, step_count),
    FIELD("module_runs", struct memory_profile, module_run_count),
    FIELD_END,
};

void profile_head_write(const struct memory_profile *profile, const struct error *fault, const char *state,
                        struct json_writer *w) {
    error_json_write(w, fault);
    json_write_text_key(w, "state", state);
    fields_write(w, count_fields, profile);
}

const char *profile_reason(const struct memory_profile *profile, struct arena *arena) {
    if (!profile->has_host_plane) return "The profile has no plane /host:CPU, where allocators leave their events.";
    if (!profile->other_event_count)
        return "The plane /host:CPU holds no MemoryAllocation and no MemoryDeallocation event.";
    const char *text = arena_printf(arena,
                                    "The plane /host:CPU holds %" PRIu64
                                    " events, but no MemoryAllocation and no MemoryDeallocation among them.",
                                    profile->other_event_count);
    return text ? text : "The plane /host:CPU holds no MemoryAllocation and no MemoryDeallocation event.";
}

#define HOW_TO_PROFILE                                                                                                 \
    "JAX on CPU records no memory events. On a GPU or TPU, profile with host_tracer_level 2 or more: with JAX, "       \
    "options = "                                                                                                       \
    "jax.profiler.ProfileOptions(); options.host_tracer_level = 2; jax.profiler.start_trace(\"/tmp/xprof\", "          \
    "profiler_options=options); with TensorFlow, tf.profiler.experimental.ProfilerOptions(host_tracer_level=2). "
#define MEMORY_VIEWER                                                                                                  \
    "The Memory Viewer of this session shows what each of its compiled programs needs, without any memory events. "
#define DEVICE_MEMORY                                                                                                  \
    "To see which arrays hold device memory right now, call jax.profiler.save_device_memory_profile(\"memory.prof\") " \
    "in "                                                                                                              \
    "the program: hbmview opens that file too."

const char *profile_advice(bool session_has_programs) {
    return session_has_programs ? MEMORY_VIEWER HOW_TO_PROFILE DEVICE_MEMORY : HOW_TO_PROFILE DEVICE_MEMORY;
}

const char *profile_left_out(const struct memory_profile *profile, const char *host, struct arena *arena) {
    if (!profile->left_out_count) return NULL;
    return arena_printf(arena, "%" PRIu64 " event(s) of %s are too long to be any, or damaged, and left out.",
                        profile->left_out_count, host);
}
