#include "analysis/advice/near_capacity.h"

#include <math.h>

// XLA's rematerialization names its copies so (hlo_rematerialization.cc).
static bool is_rematerialized(const struct hlo_module *module, uint32_t instruction) {
    return bytes_contains(hlo_instruction_read(module, instruction).name, BYTES(".remat"));
}

static uint32_t count_rematerialized(const struct hlo_module *module) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->instruction_count; i++) count += is_rematerialized(module, i);
    return count;
}

static void add_rematerialized(struct advisor *advisor) {
    double all = 0;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        const struct hlo_buffer *buffer = &advisor->module->buffers[i];
        bool is_in_hbm = buffer->color == 0 && buffer->size_bytes > 0 && buffer->instruction != HLO_NONE;
        if (!is_in_hbm || !is_rematerialized(advisor->module, buffer->instruction)) continue;
        if (buffer->size_bytes > advisor->rematerialized_bytes) advisor->rematerialized_bytes = buffer->size_bytes;
        all += (double)buffer->size_bytes;
    }
    advisor->all_rematerialized_bytes = what_if_bytes(all);
}

bool near_capacity_is(const struct advisor *advisor) {
    const double almost = 0.85;
    double capacity = (double)advisor->request.capacity_bytes;
    return (double)advisor->what_if.total_bytes >= almost * capacity;
}

void near_capacity_find(struct advisor *advisor) {
    enum { MANY = 16 };
    uint32_t count = count_rematerialized(advisor->module);
    advisor->is_rematerialized = count > 0;
    advisor->is_squeezed = count >= MANY && near_capacity_is(advisor);
    if (count) add_rematerialized(advisor);
}

// What the compiler squeezed out comes back when a change makes room: all that donating saves may go on that; after
// other changes, a part of the temporaries that are left. Of these it may squeeze out more, to stay in the capacity.
static void widen_squeezed(const struct advisor *advisor, struct advice_item *item) {
    int64_t most = advisor->what_if.total_bytes;
    int64_t left = item->predicted_total_bytes - item->predicted_indefinite_bytes;
    int64_t back = item->id == ADVICE_DONATE_INPUTS ? item->saves_bytes : left / 2;
    int64_t high = back < most - item->predicted_total_bytes ? item->predicted_total_bytes + back : most;
    int64_t low = item->predicted_total_bytes - left / 5 * 2;
    if (high > item->high_bytes) item->high_bytes = high;
    if (low < item->low_bytes) item->low_bytes = low;
    item->kept_low_bytes = item->followed_high_bytes = 0;
    advisor_say(advisor, item,
                "The compiler has squeezed this program: it recomputes arrays for want of memory (names with .remat). "
                "What a change frees it may use for these again, so the total can end higher; or it may recompute "
                "more, down to what the chip holds.");
}

// Few, of which one is large, as logits are: it may be kept again, or what it is recomputed of. Of five such programs
// one took 5 to 8 % more than was predicted, four up to 3 % more or less: a narrow range lies a little higher.
static void widen_by_one(const struct advisor *advisor, struct advice_item *item) {
    enum { LARGE_DIVISOR = 50 };
    const double narrow = 0.1, higher = 0.014;
    int64_t total = advisor->what_if.total_bytes, bytes = advisor->rematerialized_bytes, up = bytes;
    if (bytes <= total / LARGE_DIVISOR || item->high_bytes >= total) return;
    bool is_narrow = (double)(item->high_bytes - item->low_bytes) < narrow * (double)item->predicted_total_bytes;
    if (is_narrow) up = what_if_bytes(fmin((double)bytes, higher * (double)item->predicted_total_bytes));
    if (is_narrow && item->low_bytes + up <= item->predicted_total_bytes) item->low_bytes += up;
    item->high_bytes = up < total - item->high_bytes ? item->high_bytes + up : total;
    advisor_say(advisor, item,
                "The compiler computes an array of %s a second time for want of memory (a name with .remat). What a "
                "change frees it may use to keep it, so the total can end higher.",
                size_string(bytes, advisor->arena));
}

static void say_squeezed_out(const struct advisor *advisor, const struct what_if_result *told,
                             struct advice_item *item) {
    advisor_say(advisor, item,
                "The compiler has squeezed this program: it recomputes %s of what this change leaves, for want of "
                "memory (names with .remat). About half of that is taken to be kept again; none or all may be.",
                size_string(told->back_bytes + told->out_bytes, advisor->arena));
}

void near_capacity_widen(const struct advisor *advisor, struct advice_item *item) {
    if (!advisor->is_rematerialized || !near_capacity_is(advisor) || !item->applies || item->saves_bytes <= 0) return;
    const struct what_if_result *told = &advisor->told[item->id];
    if (advisor->is_squeezed)
        widen_squeezed(advisor, item);
    else if (told->back_bytes + told->out_bytes > advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR)
        say_squeezed_out(advisor, told, item);
    else
        widen_by_one(advisor, item);
}
