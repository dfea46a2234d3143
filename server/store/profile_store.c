#include "server/store/profile_store.h"

// --- Profiles ---

static bool fill_profile(const struct filling *from, void *thing, struct error *error) {
    const struct memory_profile *profile = thing;
    if (!memory_profile_read(from->source, from->arena, thing, error)) return false;
    if (profile->fault.code == ERROR_NONE || file_store_is_lasting(&profile->fault)) return true;
    *error = profile->fault;  // of the disk or the bucket: asked again, there may be more
    return false;
}

static size_t column_bytes(const void *thing) {
    return memory_profile_column_bytes(thing);
}

static void release_profile(void *thing) {
    memory_profile_free(thing);
}

static const struct stored_kind profile_kind = {.name = "profile",
                                                .thing_bytes = sizeof(struct memory_profile),
                                                .arena_limit_bytes = (size_t)4 << 30,
                                                .fill = fill_profile,
                                                .outside_bytes = column_bytes,
                                                .release = release_profile};

const struct memory_profile *profile_store_load(struct work *work, const struct input_file *file, struct error *error) {
    if (file->kind != PROFILE_FILE_XPLANE) {
        error_in(error, ERROR_NOT_FOUND, file->path, ERROR_WHOLE_FILE,
                 "This file holds a compiled program; memory over time is in *.xplane.pb files.");
        return NULL;
    }
    const char *key = file_store_key(work, profile_kind.name, file, error);
    return key ? file_store_get(work, &profile_kind, key, file, NULL, error) : NULL;
}

// --- Pyramids ---

static bool fill_pyramid(const struct filling *from, void *thing, struct error *error) {
    return timeline_pyramid_build(from->of, from->arena, thing) || work_out_of_memory(error);
}

static const struct stored_kind pyramid_kind = {.name = "pyramid",
                                                .thing_bytes = sizeof(struct timeline_pyramid),
                                                .arena_limit_bytes = (size_t)2 << 30,
                                                .is_derived = true,
                                                .fill = fill_pyramid};

const struct timeline_pyramid *profile_store_pyramid(struct work *work, const struct input_file *file,
                                                     const struct memory_profile *profile,
                                                     const struct memory_timeline *timeline, struct error *error) {
    const char *kind = arena_printf(&work->arena, "%s %td", pyramid_kind.name, timeline - profile->timelines);
    const char *key = kind ? file_store_key(work, kind, file, error) : NULL;
    if (!kind) work_out_of_memory(error);
    return key ? file_store_get(work, &pyramid_kind, key, file, timeline, error) : NULL;
}
