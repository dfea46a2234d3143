#include "analysis/groups/group_steps.h"

enum { ROWS_PER_SCRATCH = 1 << 12 };

static bool too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left to keep the groups of this program");
}

// --- Made once ---

struct maker {
    const struct memory_grouping *grouping;
    const struct buffer_sources *sources;
    struct group_steps *steps;
    struct arena *arena;
    struct arena scratch;  // of the texts of some rows
};

static void tell_phase(struct maker *m, struct group_step_row *row) {
    const struct memory_view *view = m->grouping->view;
    struct buffer_phase_told told = buffer_phase_of(&m->grouping->phases, &view->rows[row->held.row]);
    row->rule = told.rule;
    if (told.evidence != HLO_NONE)
        row->evidence = string_table_copy(&m->steps->texts, hlo_instruction_read(view->module, told.evidence).name,
                                          m->arena);
}

static void add_row(struct maker *m, uint32_t index, int64_t size_bytes, uint32_t start_step, uint32_t end_step) {
    if (m->steps->row_count % ROWS_PER_SCRATCH == 0) {
        arena_free(&m->scratch);
        arena_init(&m->scratch, 0);
    }
    const struct memory_buffer *buffer = &m->grouping->view->rows[index];
    struct group_facts facts = group_facts_of_row(m->grouping, m->sources, buffer, &m->scratch);
    struct group_step_row *row = &m->steps->rows[m->steps->row_count++];
    *row = (struct group_step_row){
        .held = grouped_row_of(m->grouping, index, size_bytes),
        .start_step = start_step,
        .end_step = end_step,
        .about = string_table_copy(&m->steps->texts, facts.about, m->arena),
        .place = string_table_copy(&m->steps->texts, facts.place, m->arena),
        .evidence = HLO_NONE,
    };
    if (m->steps->by == GROUP_BY_PHASE) tell_phase(m, row);
}

static void add_rows(struct maker *m) {
    const struct memory_view *view = m->grouping->view;
    for (uint32_t i = 0; i < view->indefinite_row_count; i++)
        add_row(m, i, view->rows[i].size_bytes, 0, m->steps->last_step + 1);
    m->steps->indefinite_count = m->steps->row_count;
    for (uint32_t i = 0; i < view->replay.stay_count; i++) {
        const struct heap_stay *stay = &view->replay.stays[i];
        add_row(m, view->indefinite_row_count + stay->span, view->module->buffers[stay->root].size_bytes,
                stay->start_step, stay->end_step);
    }
}

static bool copy_keys(struct maker *m) {
    const struct string_table *keys = &m->grouping->keys;
    for (uint32_t i = 0; i < keys->count; i++) string_table_copy(&m->steps->keys, keys->texts[i], m->arena);
    memcpy(m->steps->key_of_row, m->grouping->key_of_row, m->steps->view_row_count * sizeof *m->steps->key_of_row);
    return !m->steps->keys.has_failed && m->steps->keys.count == keys->count;
}

static void copy_curve(const struct memory_view *view, struct group_steps *steps) {
    for (uint32_t i = 0; i <= steps->last_step; i++)
        steps->live_bytes[i] = view->indefinite_bytes + (view->has_simulation ? view->replay.heap_bytes[i + 1] : 0);
}

static bool begin(struct maker *m) {
    const struct memory_view *view = m->grouping->view;
    struct group_steps *steps = m->steps;
    *steps = (struct group_steps){
        .space = view->totals.space,
        .by = m->grouping->by,
        .rule = m->grouping->rule,
        .line_share = m->grouping->line_share,
        .peak_step = memory_groups_peak_step(view),
        .last_step = memory_groups_last_step(view),
        .view_row_count = view->row_count,
    };
    size_t most = (size_t)view->indefinite_row_count + view->replay.stay_count;
    steps->live_bytes = arena_push_raw(m->arena, (size_t)steps->last_step + 1, sizeof *steps->live_bytes);
    steps->key_of_row = arena_push_raw(m->arena, view->row_count, sizeof *steps->key_of_row);
    steps->rows = arena_push_raw(m->arena, most, sizeof *steps->rows);
    return steps->live_bytes && steps->key_of_row && steps->rows && string_table_init(&steps->keys, m->arena) &&
           string_table_init(&steps->texts, m->arena);
}

bool group_steps_make(const struct memory_grouping *grouping, const struct buffer_sources *sources, struct arena *arena,
                      struct group_steps *steps, struct error *error) {
    struct maker m = {.grouping = grouping, .sources = sources, .steps = steps, .arena = arena};
    arena_init(&m.scratch, 0);
    bool is_good = begin(&m) && copy_keys(&m);
    if (is_good) {
        copy_curve(grouping->view, steps);
        add_rows(&m);
        is_good = !steps->texts.has_failed;
    }
    arena_free(&m.scratch);
    return is_good || too_big(error);
}

// --- Asked for a step ---

struct teller {
    const struct group_steps *steps;
    const struct group_step_row **largest;  // of each key
    struct phase_votes *votes;              // of each key of GROUP_BY_PHASE
};

static bool covers(const struct group_step_row *row, uint32_t step) {
    return row->start_step <= step && step < row->end_step;
}

static void hear(struct teller *t, const struct group_step_row *row) {
    uint32_t key = row->held.key;
    const struct group_step_row *now = t->largest[key];
    if (!now || row->held.size_bytes > now->held.size_bytes) t->largest[key] = row;
    if (t->votes) phase_votes_add(&t->votes[key], row->rule, row->evidence, row->held.size_bytes);
}

static struct group_facts facts_of(const struct teller *t, uint32_t key) {
    const struct string_table *texts = &t->steps->texts;
    const struct group_step_row *row = t->largest[key];
    struct group_facts facts = {.rule = RULE_NONE};
    if (!row) return facts;
    facts.about = texts->texts[row->about];
    facts.place = texts->texts[row->place];
    if (!t->votes) return facts;
    uint32_t evidence = phase_votes_evidence(&t->votes[key]);
    facts.rule = t->votes[key].rule;
    if (evidence != HLO_NONE) facts.evidence = texts->texts[evidence];
    return facts;
}

static bool listen(const struct group_steps *steps, struct arena *arena, struct teller *t) {
    *t = (struct teller){.steps = steps};
    t->largest = arena_push(arena, steps->keys.count, sizeof *t->largest);
    if (steps->by == GROUP_BY_PHASE) t->votes = arena_new(arena, struct phase_votes, steps->keys.count);
    return t->largest && (t->votes || steps->by != GROUP_BY_PHASE);
}

static bool tell(const struct teller *t, const struct memory_groups *groups, struct arena *arena,
                 struct group_facts **facts) {
    *facts = arena_new(arena, struct group_facts, groups->row_count);
    for (uint32_t i = 0; *facts && i < groups->row_count; i++) (*facts)[i] = facts_of(t, groups->rows[i].key_number);
    return *facts != NULL;
}

// Those after the first that begins later cannot cover the step.
static uint32_t end_of_step(const struct group_steps *steps, uint32_t step) {
    uint32_t low = steps->indefinite_count, high = steps->row_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (steps->rows[middle].start_step <= step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool group_steps_at(const struct group_steps *steps, uint32_t step, enum memory_group_weight weight,
                    struct arena *arena, struct memory_groups *groups, struct group_facts **facts,
                    struct error *error) {
    uint32_t end = end_of_step(steps, step), count = 0;
    struct grouped_row *live = arena_push_raw(arena, end, sizeof *live);
    struct teller teller;
    *groups = (struct memory_groups){.step = step};
    if (!live || !listen(steps, arena, &teller)) return too_big(error);
    for (uint32_t i = 0; i < end; i++) {
        if (!covers(&steps->rows[i], step)) continue;
        live[count++] = steps->rows[i].held;
        hear(&teller, &steps->rows[i]);
    }
    if (!memory_groups_sum(&steps->keys, live, count, steps->live_bytes[step], arena, groups)) return too_big(error);
    memory_groups_weigh(groups, weight);
    return tell(&teller, groups, arena, facts) || too_big(error);
}
