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

typedef bool half_step(struct bytes message, struct hlo_module *module, struct error *error);
static half_step *const count_steps[HALF_COUNT] = {hlo_program_count, hlo_assignment_count};
static half_step *const fill_steps[HALF_COUNT] = {hlo_program_fill, hlo_assignment_fill};

struct loading {
    struct hlo_module *module;
    struct bytes messages[HALF_COUNT];
    struct error errors[HALF_COUNT];
    bool is_good[HALF_COUNT];
    half_step *const *steps;  // what is done with both halves now
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

static void take_step(void *context, size_t half) {
    struct loading *l = context;
    l->is_good[half] = l->steps[half](l->messages[half], l->module, &l->errors[half]);
}

static bool take_steps(struct loading *loading, half_step *const *steps, struct error *error) {
    bool is_long = true;
    loading->steps = steps;
    for (size_t half = 0; half < HALF_COUNT; half++) is_long &= loading->messages[half].size >= WORTH_A_THREAD_BYTES;
    if (is_long) {
        parallel_run(take_step, loading, HALF_COUNT);
    } else {
        for (size_t half = 0; half < HALF_COUNT; half++) take_step(loading, half);
    }
    for (size_t half = 0; half < HALF_COUNT; half++) {
        if (loading->is_good[half]) continue;
        *error = loading->errors[half];
        return false;
    }
    return true;
}

bool hlo_module_load(struct bytes blob, struct arena *arena, struct hlo_module *module, struct error *error) {
    struct loading loading = {.module = module};
    *module = (struct hlo_module){.blob = blob};
    if (!find_halves(blob, &loading, error) || !take_steps(&loading, count_steps, error)) return false;
    if (!hlo_program_columns(arena, module) || !hlo_assignment_columns(arena, module)) {
        return hlo_message_too_big(error, arena);
    }
    if (!take_steps(&loading, fill_steps, error)) return false;
    if (!hlo_module_read_long(module, arena)) return hlo_message_too_big(error, arena);
    return hlo_load_stack_frames(arena, module, error) && hlo_load_links(arena->limit_bytes, module, error);
}
