#include "analysis/advice/holding.h"

#include "analysis/base/device_kinds.h"

static bool is_for(const struct advice *advice, const struct device_kind *kind) {
    return kind->is_of_compiler ? advice->is_for_tpu : advice->is_for_gpu;
}

size_t advice_holding_devices(const struct advice *advice, int64_t bytes, const char **names) {
    size_t count = 0;
    for (size_t i = 0; i < device_kind_count; i++) {
        const struct device_kind *kind = &device_kinds[i];
        if (is_for(advice, kind) && device_kind_usable_bytes(kind) >= bytes) names[count++] = kind->name;
    }
    return count;
}

// A text that there was no memory for is empty: callers look at its first character.
static const char *told(const char *text) {
    return text ? text : "";
}

const char *advice_holding_text(const struct advice *advice, int64_t bytes, struct arena *arena) {
    const char **names = arena_push_raw(arena, device_kind_count, sizeof *names), *list = "";
    size_t count = names ? advice_holding_devices(advice, bytes, names) : 0;
    for (size_t i = 0; i < count && list; i++) list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", names[i]);
    return told(list);
}

const char *advice_holding_sentence(const struct advice *advice, struct arena *arena) {
    const char *list = advice_holding_text(advice, advice->total_bytes, arena);
    const char *kind = advice->is_for_gpu ? "GPU" : "TPU";
    const char *part = advice->is_for_gpu ? " with the three quarters of its memory that XLA takes by itself" : "";
    if (!advice->is_for_tpu && !advice->is_for_gpu) return "";
    return told(*list ? arena_printf(arena, "As it is, one of these holds it%s: %s.", part, list)
                      : arena_printf(arena, "As it is, no %s that is known here holds it%s.", kind, part));
}
