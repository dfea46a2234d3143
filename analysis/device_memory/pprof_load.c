#include "analysis/device_memory/pprof_load.h"

#include "proto/pprof_fields.h"

bool pprof_out_of_memory(const struct pprof_loader *loader) {
    return error_set(loader->error, ERROR_TOO_BIG, "there is not enough memory for this device memory profile");
}

bool pprof_walk_ended(const struct pprof_loader *loader, const struct pprof_walk *walk) {
    if (!walk->wire.fault) return true;
    return error_at(loader->error, ERROR_MALFORMED, walk->wire.at - loader->blob.data, "damaged %s: expected %s",
                    walk->message_name, walk->wire.fault);
}

bool pprof_is_too_many(const struct pprof_loader *loader, uint64_t count, int64_t most, const char *what) {
    if (count <= (uint64_t)most) return false;
    error_set(loader->error, ERROR_TOO_BIG, "more than %lld %s", (long long)most, what);
    return true;
}

// --- How much there is ---

static bool count_lines(struct pprof_loader *loader, struct bytes location) {
    struct pprof_walk walk = pprof_walk_over(location, "Location");
    struct wire_field f;
    uint64_t lines = 0;
    while (wire_next(&walk.wire, &f)) {
        if (f.number == PPROF_LOCATION_LINE && f.type == WIRE_LEN) lines++;
    }
    loader->counts.lines += lines;
    if (lines > loader->counts.most_lines) loader->counts.most_lines = lines;
    return pprof_walk_ended(loader, &walk);
}

bool pprof_load_counts(struct pprof_loader *loader) {
    struct pprof_walk walk = pprof_walk_over(loader->blob, "Profile");
    struct pprof_counts *counts = &loader->counts;
    struct wire_field f;
    while (wire_next(&walk.wire, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == PPROF_SAMPLE_TYPE) counts->sample_types++;
        if (f.number == PPROF_SAMPLE) {
            counts->samples++;
            counts->sample_bytes += f.payload.size;
        }
        if (f.number == PPROF_FUNCTION) counts->functions++;
        if (f.number == PPROF_STRING_TABLE) counts->names++;
        if (f.number != PPROF_LOCATION) continue;
        counts->locations++;
        if (!count_lines(loader, f.payload)) return false;
    }
    return pprof_walk_ended(loader, &walk) &&
           !pprof_is_too_many(loader, counts->sample_types, PPROF_MAX_SAMPLE_TYPES, "types of sample") &&
           !pprof_is_too_many(loader, counts->samples, DEVICE_MEMORY_MAX_SAMPLES, "samples") &&
           !pprof_is_too_many(loader, counts->lines, DEVICE_MEMORY_MAX_LINES, "lines of code") &&
           !pprof_is_too_many(loader, counts->locations, DEVICE_MEMORY_MAX_LINES, "places in the code") &&
           !pprof_is_too_many(loader, counts->functions, DEVICE_MEMORY_MAX_LINES, "functions") &&
           !pprof_is_too_many(loader, counts->names, DEVICE_MEMORY_MAX_LINES, "names");
}
