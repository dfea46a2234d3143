// Sentences that a reader of a memory view must know: what the figures leave out, and where XProf shows others.
#pragma once

#include "server/document/memory_view_document.h"

enum { MEMORY_VIEW_NOTES_MAX = 12 };

struct memory_view_notes {
    const char *texts[MEMORY_VIEW_NOTES_MAX];
    size_t count;
};

// On `arena`; a note that finds no room is left out.
void memory_view_notes_make(const struct memory_view_document *document, struct arena *arena,
                            struct memory_view_notes *notes);
