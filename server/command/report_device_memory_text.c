#include "server/command/report_device_memory_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/text_writer.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"

static const char *number_cell(int64_t number, struct arena *arena) {
    return arena_printf(arena, "%" PRId64, number);
}

static const char *share_cell(int64_t bytes, int64_t whole, struct arena *arena) {
    return whole > 0 ? arena_printf(arena, "%.1f %%", 100.0 * (double)bytes / (double)whole) : "";
}

// --- By kind and device ---

static void write_groups(const struct device_memory_profile *profile, struct page *page) {
    static const struct table_column columns[] = {{"KIND", TABLE_LEFT, false},
                                                  {"DEVICE", TABLE_SHRINKING, false},
                                                  {"SIZE", TABLE_RIGHT, false},
                                                  {"SHARE", TABLE_RIGHT, false},
                                                  {"COUNT", TABLE_RIGHT, false}};
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    for (uint32_t i = 0; i < profile->group_count; i++) {
        const struct device_memory_group *group = &profile->groups[i];
        TABLE_ADD(&table, printable_text(group->kind, page->arena),
                  group->device.size ? printable_text(group->device, page->arena) : "(not told)",
                  size_string(group->bytes, page->arena), share_cell(group->bytes, profile->bytes, page->arena),
                  number_cell(group->count, page->arena));
    }
    page_table(page, &table);
}

// --- By function ---

static void write_functions(const struct device_memory_profile *profile, const struct device_memory_tree *tree, int top,
                            struct page *page) {
    static const struct table_column columns[] = {{"SELF", TABLE_RIGHT, false},
                                                  {"TOTAL", TABLE_RIGHT, false},
                                                  {"COUNT", TABLE_RIGHT, false},
                                                  {"FUNCTION", TABLE_SHRINKING, false},
                                                  {"FILE", TABLE_SHRINKING, false}};
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    uint32_t shown = report_at_most(tree->top_count, top);
    for (uint32_t i = 0; i < shown; i++) {
        const struct device_memory_top *row = &tree->top[i];
        const struct device_memory_function *function = &profile->functions[row->function];
        TABLE_ADD(&table, size_string(row->figures.self_bytes, page->arena),
                  size_string(row->figures.total_bytes, page->arena),
                  number_cell(row->figures.total_count, page->arena), printable_text(function->name, page->arena),
                  printable_text(function->file, page->arena));
    }
    page_table(page, &table);
    if (shown < tree->top_count)
        page_paragraph(page, arena_printf(page->arena, "%u more function(s): --top.", tree->top_count - shown));
}

// --- By stack ---

static struct bytes last_part(struct bytes path) {
    size_t at = path.size;
    while (at > 0 && path.data[at - 1] != '/') at--;
    return (struct bytes){path.data + at, path.size - at};
}

static void put_frame(struct text_writer *text, const struct device_memory_profile *profile, uint32_t index) {
    const struct device_memory_frame *frame = &profile->frames[index];
    const struct device_memory_function *function = &profile->functions[frame->function];
    text_put_bytes(text, function->name.size ? function->name : BYTES("(no name)"));
    text_put(text, " ");
    text_put_bytes(text, last_part(function->file));
    text_put(text, ":");
    text_put_int64(text, frame->line);
}

enum { STACK_FRAMES_SHOWN = 8 };

// The innermost frames, outermost of them first: "... > train train.py:41 > make_batch train.py:12".
static const char *stack_text(const struct device_memory_profile *profile, const struct device_memory_tree *tree,
                              uint32_t node, struct arena *arena) {
    uint32_t frames[STACK_FRAMES_SHOWN], count = 0;
    struct text_writer text = {.arena = arena};
    uint32_t at = node;
    for (; at != 0 && count < STACK_FRAMES_SHOWN; at = tree->nodes[at].parent) frames[count++] = tree->nodes[at].frame;
    if (at != 0) text_put(&text, "... > ");
    for (uint32_t i = count; i > 0; i--) {
        put_frame(&text, profile, frames[i - 1]);
        if (i > 1) text_put(&text, " > ");
    }
    return text_writer_finish(&text);
}

struct held {
    int64_t bytes;
    uint32_t node;
};

static int most_first(const void *left, const void *right) {
    const struct held *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static void write_stacks(const struct device_memory_profile *profile, const struct device_memory_tree *tree, int top,
                         struct page *page) {
    struct held *held = arena_new(page->arena, struct held, tree->node_count);
    const char **items = arena_new(page->arena, const char *, tree->node_count);
    uint32_t count = 0;
    if (!held || !items) return;
    for (uint32_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].figures.self_bytes > 0) held[count++] = (struct held){tree->nodes[i].figures.self_bytes, i};
    }
    if (count) qsort(held, count, sizeof *held, most_first);
    count = report_at_most(count, top);
    for (uint32_t i = 0; i < count; i++) {
        const char *stack = stack_text(profile, tree, held[i].node, page->arena);
        if (!stack) return;
        items[i] = arena_printf(page->arena, "%s in %" PRId64 ": %s", size_string(held[i].bytes, page->arena),
                                tree->nodes[held[i].node].figures.self_count, stack);
    }
    if (count == 0) return;
    page_paragraph(page, "The largest stacks, innermost frame last:");
    page_list(page, items, count);
}

void report_device_memory_text(const char *session, const char *file_name, const struct device_memory_profile *profile,
                               const struct device_memory_tree *tree, int top, struct page *page) {
    bool is_own = bytes_ends_with(bytes_of(session), bytes_of(file_name));
    page_heading(page, is_own ? arena_printf(page->arena, "Device memory: %s", session)
                              : arena_printf(page->arena, "Device memory: %s / %s", session, file_name));
    page_paragraph(page, arena_printf(page->arena, "%s held in %" PRId64 " arrays and executables.",
                                      size_string(profile->bytes, page->arena), profile->count));
    write_groups(profile, page);
    if (profile->sample_count == 0) return;
    page_paragraph(page, "By function of your own code (what libraries hold is their caller's):");
    write_functions(profile, tree, top, page);
    write_stacks(profile, tree, top, page);
}
