#include "analysis/oom/oom_advised.h"

#include <string.h>

#include "analysis/advice/advise.h"
#include "analysis/advice/holding.h"
#include "analysis/base/size_text.h"

enum { TINY_DIVISOR = 1000 };  // a thousandth of the total is not worth a change

// Changes that no advice replays, and what of a program rules them out.
static const char *unpredicted_why_not(const char *id) {
    if (strcmp(id, "profile") == 0) return "The buffers are at hand: this is the program.";
    return NULL;
}

static const char *why_not(const struct advice_item *item, const struct advice *advice, struct arena *arena) {
    if (!item->applies) return item->evidence_count ? item->evidence[0] : "It does not apply to this program.";
    if (item->saves_bytes > 0 && item->saves_bytes >= advice->total_bytes / TINY_DIVISOR) return NULL;
    if (item->saves_bytes > 0) return arena_printf(arena, "It would save %s.", size_string(item->saves_bytes, arena));
    return item->saves_bytes < 0 ? arena_printf(arena, "It would cost %s.", size_string(-item->saves_bytes, arena))
                                 : "It would save nothing.";
}

static void exclude(struct oom_diagnosis *diagnosis, const struct change *change, const char *why) {
    if (diagnosis->excluded_count < OOM_FIXES_MAX)
        diagnosis->excluded[diagnosis->excluded_count++] = (struct oom_excluded){*change, why ? why : ""};
}

// A change without a figure of its own, with what the advice knows about it: which chips would do.
static struct oom_fix unpredicted(const struct oom_fix *fix, const struct advice *advice, struct arena *arena) {
    struct oom_fix told = *fix;
    const char *holding = advice_holding_sentence(advice, arena);
    if (strcmp(fix->change.id, "more_chips") != 0 || !*holding) return told;
    const char *text = arena_printf(arena, "%s %s", fix->change.text, holding);
    if (text) told.change.text = text;
    return told;
}

static bool is_replayed(const char *id) {
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (strcmp(advice_id_name((enum advice_id)i), id) == 0) return true;
    }
    return false;
}

// A change of which the advice can tell nothing is one that nothing predicts.
static bool is_untold(const char *id, const struct advice *advice) {
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (strcmp(advice_id_name((enum advice_id)i), id) == 0) return advice->items[i].cannot_tell;
    }
    return false;
}

static bool is_suggested(const struct oom_fix *suggested, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(suggested[i].change.id, id) == 0) return true;
    }
    return false;
}

// Insertion, because few.
static void offer(struct oom_diagnosis *diagnosis, const struct change *change, const struct advice_item *item) {
    size_t at = diagnosis->fix_count++;
    for (; at > 0 && diagnosis->fixes[at - 1].prediction->saves_bytes < item->saves_bytes; at--)
        diagnosis->fixes[at] = diagnosis->fixes[at - 1];
    diagnosis->fixes[at] = (struct oom_fix){*change, item};
    if (item->name) diagnosis->fixes[at].change.name = item->name;
    if (item->code) diagnosis->fixes[at].change.how = item->code;
}

void oom_fixes_advise(struct oom_diagnosis *diagnosis, const struct advice *advice, struct arena *arena) {
    struct oom_fix suggested[OOM_FIXES_MAX];
    size_t suggested_count = diagnosis->fix_count;
    memcpy(suggested, diagnosis->fixes, sizeof suggested);
    diagnosis->fix_count = 0;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        const struct change *change = change_find(bytes_of(advice_id_name(item->id)));
        const char *why = change ? why_not(item, advice, arena) : NULL;
        if (change && item->cannot_tell && is_suggested(suggested, suggested_count, change->id)) continue;
        if (change && why)
            exclude(diagnosis, change, why);
        else if (change)
            offer(diagnosis, change, item);
    }
    for (size_t i = 0; i < suggested_count; i++) {
        const struct change *change = &suggested[i].change;
        const char *why = unpredicted_why_not(change->id);
        if (is_replayed(change->id) && !is_untold(change->id, advice)) continue;
        if (why)
            exclude(diagnosis, change, why);
        else if (diagnosis->fix_count < OOM_FIXES_MAX)
            diagnosis->fixes[diagnosis->fix_count++] = unpredicted(&suggested[i], advice, arena);
    }
}
