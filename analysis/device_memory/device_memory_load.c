#include "analysis/device_memory/device_memory_load.h"

#include "analysis/device_memory/pprof_load.h"
#include "analysis/input/device_memory_look.h"

static bool load_blob(struct byte_source *source, struct arena *arena, struct bytes *blob, struct error *error) {
    uint64_t size;
    if (!device_memory_begins(source, DEVICE_MEMORY_MAX_BYTES, error)) return false;
    if (!byte_source_reach(source, (uint64_t)DEVICE_MEMORY_MAX_BYTES + 1, &size, error)) return false;
    return byte_source_load(source, 0, size, DEVICE_MEMORY_MAX_BYTES, arena, blob, error);
}

bool device_memory_profile_read(struct byte_source *source, struct arena *arena, struct device_memory_profile *profile,
                                struct error *error) {
    *profile = (struct device_memory_profile){0};
    struct pprof_loader loader = {.arena = arena, .profile = profile, .error = error};
    bool is_good = load_blob(source, arena, &loader.blob, error) && pprof_load_counts(&loader);
    if (is_good && !pprof_names_read(loader.blob, (uint32_t)loader.counts.names, arena, &loader.names))
        is_good = pprof_out_of_memory(&loader);
    is_good = is_good && pprof_load_frames(&loader) && pprof_load_samples(&loader);
    return is_good || error_in_file(error, byte_source_path(source), 0);
}
