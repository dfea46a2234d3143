// The document of /api/v1/memory_view (docs/api.md): one memory space of one module, in columns.
//
// Written from the exact view; the figures XProf would show stand beside it, and the notes say why they differ.
#pragma once

#include "server/document/memory_view_document.h"
#include "server/text/json_writer.h"

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
