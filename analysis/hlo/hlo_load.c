#include "analysis/hlo/hlo_load.h"

#include "analysis/base/parallel.h"
#include "analysis/hlo/hlo_load_assignment.h"
#include "analysis/hlo/hlo_load_links.h"
#include "analysis/hlo/hlo_load_program.h"
#include "analysis/hlo/hlo_load_stack_frames.h"
#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

enum { WORTH_A_THREAD_BYTES = 1 << 20 };  // of the smaller half: about a millisecond

enum half { PROGRAM, ASSIGNMENT, HALF_COUNT };

typedef bool load_half(struct bytes message, struct arena *arena, struct hlo_module *module, struct error *error);
static load_half *const load_halves[HALF_COUNT] = {hlo_load_program, hlo_load_assignment};

struct loading {
    struct hlo_module *module;
    struct bytes messages[HALF_COUNT];
    struct arena *arenas[HALF_COUNT];
    struct error errors[HALF_COUNT];
    bool is_good[HALF_COUNT];
};

// Both parts of an HloProto are single messages.
static bool find_halves(struct bytes blob, struct loading *loading, struct error *error) {
    struct wire w = wire_open(blob);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        if (f.number == HLO_PROTO_MODULE) loading->messages[PROGRAM] = f.payload;
        if (f.number == HLO_PROTO_BUFFER_ASSIGNMENT) loading->messages[ASSIGNMENT] = f.payload;
    }
    if (w.fault) return hlo_message_fault(error, blob, &w, "HloProto");
    return loading->messages[PROGRAM].data ||
           error_at(error, ERROR_MALFORMED, 0, "not an HloProto: it holds no HLO module (field 1)");
}

static void load_one(void *context, size_t half) {
    struct loading *l = context;
    l->is_good[half] = load_halves[half](l->messages[half], l->arenas[half], l->module, &l->errors[half]);
}

static void load_both(struct loading *loading, struct arena *arena) {
    bool is_long = true;
    struct arena program;
    for (size_t half = 0; half < HALF_COUNT; half++) is_long &= loading->messages[half].size >= WORTH_A_THREAD_BYTES;
    for (size_t half = 0; half < HALF_COUNT; half++) loading->arenas[half] = arena;
    if (!is_long) {
        for (size_t half = 0; half < HALF_COUNT; half++) load_one(loading, half);
        return;
    }
    arena_init(&program, arena->limit_bytes);
    loading->arenas[PROGRAM] = &program;
    parallel_run(load_one, loading, HALF_COUNT);
    arena_adopt(arena, &program);
}

bool hlo_module_load(struct bytes blob, struct arena *arena, struct hlo_module *module, struct error *error) {
    struct loading loading = {.module = module};
    *module = (struct hlo_module){.blob = blob};
    if (!find_halves(blob, &loading, error)) return false;
    load_both(&loading, arena);
    for (size_t half = 0; half < HALF_COUNT; half++) {
        if (loading.is_good[half]) continue;
        *error = loading.errors[half];
        return false;
    }
    return hlo_load_stack_frames(arena, module, error) && hlo_load_links(arena->limit_bytes, module, error);
}
