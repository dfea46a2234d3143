// The facts of a report, one module at a time; what all formats are written from.
//
//     report_program ──> report_module (arena: blob, columns) ──> report_space (view, notes, buffers by size)
//
// A module's arena holds everything made of it and is dropped whole before the next one is loaded.
#pragma once

#include "analysis/groups/memory_groups.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/peak_summary.h"
#include "server/document/memory_view_document.h"
#include "server/command/report_inventory.h"

struct report_module {
    const struct report_program *program;
    struct arena arena;
    struct hlo_module module;
    struct dump_facts dump;
    struct buffer_sources *sources;  // NULL until a group asks for them
};

// False: the error is among the report's. Free the module in either case.
MUST_USE bool report_module_load(struct report *report, const struct report_program *program,
                                 struct report_module *module);
void report_module_free(struct report_module *module);

// Peak and total of each memory space that holds something and that the options ask for. On a failure the error is
// among the report's, and the list holds the spaces before it.
void report_module_summaries(struct report *report, struct report_module *module, struct memory_summary_list *list);

// The memory spaces that hold something and that the options ask for, ascending. The same on a failure.
void report_module_spaces(struct report *report, struct report_module *module, struct memory_totals_list *list);

struct report_space {
    const struct memory_view *view;
    struct memory_view_notes notes;  // none in CSV, which has no place for them
    struct buffer_describer describer;
    struct peak_summary peak;  // the largest buffers: as many as the options ask for, in text all
};

// False: the error is among the report's.
MUST_USE bool report_space_build(struct report *report, struct report_module *module, int64_t space,
                                 struct report_space *made);

struct report_groups {
    struct memory_grouping grouping;
    struct memory_groups groups;
    uint32_t shown_count;  // how many of the rows the options ask for
};

// Who holds the memory at the step that the options ask for. False: the error is among the report's.
MUST_USE bool report_groups_make(struct report *report, struct report_module *module, const struct memory_view *view,
                                 struct report_groups *made);

struct report_buffer {
    struct memory_buffer row;
    const char *category;
    int64_t logical_buffer_id;  // -1 for an allocation that names no buffer
    struct buffer_description words;
    struct bytes source;  // "train.py:55", or empty
};

// Number `i` of the largest buffers. Its strings are on the module's arena.
struct report_buffer report_buffer_read(struct report_space *space, size_t i);
