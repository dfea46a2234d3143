// What is told of one memory space of one module: the exact view, XProf's beside it, and what stands around them.
//
//     handler ──> memory_view_document ──> memory_view_notes     what a reader must know
//                                      └─> memory_view_json      /api/v1/memory_view (docs/api.md), in columns
//                                      └─> memory_overview_json  what the page paints before the columns are there
//
// Written from the exact view; the figures XProf would show stand beside it, and the notes say why they differ.
#pragma once

#include "analysis/memory/dump_facts.h"
#include "analysis/memory/memory_summary.h"
#include "analysis/memory/memory_view.h"
#include "server/store/scoped_vmem.h"
#include "server/text/json_writer.h"

struct memory_view_document {
    const char *session, *host, *module;
    const struct memory_view *view;   // exact
    const struct memory_view *xprof;  // as XProf makes it; NULL when XProf cannot
    const char *xprof_reason;         // why it cannot; NULL when it can
    struct memory_summary_list summaries;
    struct scoped_vmem scoped_vmem;
    struct dump_facts dump;
    bool as_differences;  // columns that grow are told as differences (fields.h), and "delta" names them
};

enum { MEMORY_VIEW_NOTES_MAX = 12 };

struct memory_view_notes {
    const char *texts[MEMORY_VIEW_NOTES_MAX];
    size_t count;
};

// What the figures leave out, and where XProf shows others. On `arena`; a note that finds no room is left out.
void memory_view_notes_make(const struct memory_view_document *document, struct arena *arena,
                            struct memory_view_notes *notes);

// False when `scratch` is at its limit.
MUST_USE bool memory_view_json_write(const struct memory_view_document *document, struct arena *scratch,
                                     struct json_writer *w, struct error *error);

// Parts that other documents have too.
// From "session" to "notes": keys of an open object.
void memory_view_head_write(const struct memory_view_document *document, struct arena *scratch, struct json_writer *w);
// "memory_spaces": [...]; lists of modules leave thread-local bytes out.
void memory_spaces_write(const struct memory_summary *spaces, size_t count, bool has_thread_local,
                         struct json_writer *w);
void memory_view_totals_write(const struct memory_view *view, struct json_writer *w);  // keys of an open object
void compiler_report_write(const struct dump_facts *dump, const struct memory_totals *totals,
                           struct json_writer *w);  // "compiler_report": {...} or null
