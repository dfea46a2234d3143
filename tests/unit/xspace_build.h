// Builds XSpaces for tests, on wire_build.h: planes with programs, in whatever order of fields a test wants.
#pragma once

#include "proto/hlo_fields.h"
#include "proto/xplane_fields.h"
#include "tests/unit/wire_build.h"

// An HloProto that holds just a module of this name, and a tail of `padding` bytes.
static inline struct wire_build xspace_build_hlo(const char *module_name, size_t padding) {
    struct wire_build module = {0}, proto = {0};
    uint8_t *zeros = calloc(1, padding + 1);
    if (!zeros) abort();
    wire_build_text(&module, HLO_MODULE_NAME, module_name);
    wire_build_message(&proto, HLO_PROTO_MODULE, &module);
    if (padding) wire_build_bytes(&proto, HLO_PROTO_BUFFER_ASSIGNMENT, (struct bytes){zeros, padding});
    free(zeros);
    return proto;
}

static inline void xspace_build_stat_name(struct wire_build *plane, uint64_t id, const char *name) {
    struct wire_build value = {0}, entry = {0};
    wire_build_varint(&value, XSTAT_METADATA_ENTRY_ID, id);
    wire_build_text(&value, XSTAT_METADATA_NAME, name);
    wire_build_varint(&entry, MAP_ENTRY_KEY, id);
    wire_build_message(&entry, MAP_ENTRY_VALUE, &value);
    wire_build_message(plane, XPLANE_STAT_METADATA, &entry);
}

static inline void xspace_build_stat_bytes(struct wire_build *event, uint64_t stat_id, struct bytes value) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, stat_id);
    wire_build_bytes(&stat, XSTAT_BYTES_VALUE, value);
    wire_build_message(event, XEVENT_METADATA_STATS, &stat);
}

static inline void xspace_build_stat_number(struct wire_build *event, uint64_t stat_id, uint64_t value) {
    struct wire_build stat = {0};
    wire_build_varint(&stat, XSTAT_METADATA_ID, stat_id);
    wire_build_varint(&stat, XSTAT_UINT64_VALUE, value);
    wire_build_message(event, XEVENT_METADATA_STATS, &stat);
}

// Takes the event_metadata message.
static inline void xspace_build_event_entry(struct wire_build *plane, uint64_t key, struct wire_build *event) {
    struct wire_build entry = {0};
    wire_build_varint(&entry, MAP_ENTRY_KEY, key);
    wire_build_message(&entry, MAP_ENTRY_VALUE, event);
    wire_build_message(plane, XPLANE_EVENT_METADATA, &entry);
}

// One program as libtpu writes it: the HloProto in the stat with id `hlo_stat_id`.
static inline void xspace_build_program(struct wire_build *plane, uint64_t id, const char *name, uint64_t hlo_stat_id,
                                        struct bytes hlo) {
    struct wire_build event = {0};
    wire_build_varint(&event, XEVENT_METADATA_ENTRY_ID, id);
    wire_build_text(&event, XEVENT_METADATA_NAME, name);
    xspace_build_stat_bytes(&event, hlo_stat_id, hlo);
    xspace_build_event_entry(plane, id, &event);
}
