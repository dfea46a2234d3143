#include "server/api/memory_view_notes.h"

#include <inttypes.h>

#include "server/text/size_text.h"

static void add(struct memory_view_notes *notes, const char *text) {
    if (text && notes->count < MEMORY_VIEW_NOTES_MAX) notes->texts[notes->count++] = text;
}

// "186.50 KiB (190976 bytes)"
static const char *exact(int64_t bytes, struct arena *arena) {
    char size[SIZE_TEXT_BYTES];
    const char *text = arena_printf(arena, "%s (%" PRId64 " bytes)", size_text(bytes, size), bytes);
    return text ? text : "";
}

static void note_simulation(const struct memory_view *view, struct arena *arena, struct memory_view_notes *notes) {
    if (!view->has_simulation && view->totals.bytes[ALLOCATION_TEMPORARY] > 0) {
        add(notes, "The compiler left no heap simulation of this memory space: temporaries are in the total, but when "
                   "they live is not known, and the peak does not hold them.");
    } else if (view->unsimulated_temporary_count) {
        add(notes, arena_printf(arena,
                                "%" PRIu32
                                " temporary allocation(s), %s, have no heap simulation: they are in the total, not in "
                                "the curve and the peak.",
                                view->unsimulated_temporary_count, exact(view->unsimulated_temporary_bytes, arena)));
    }
    if (view->has_simulation && view->fragmentation_bytes < 0) {
        add(notes,
            arena_printf(
                arena,
                "The simulated peak is %s above what is allocated: the compiler lets some of these buffers share "
                "addresses, and the simulation counts such bytes for each.",
                exact(-view->fragmentation_bytes, arena)));
    }
}

static void note_thread_local(const struct memory_view *view, struct arena *arena, struct memory_view_notes *notes) {
    int64_t bytes = view->totals.bytes[ALLOCATION_THREAD_LOCAL];
    if (!bytes) return;
    add(notes, arena_printf(arena,
                            "Thread-local allocations, %s, are in neither the peak nor the total, as in XProf; the "
                            "compiler's own memory-usage report counts them.",
                            exact(bytes, arena)));
}

static void note_xprof(const struct memory_view_document *document, struct arena *arena,
                       struct memory_view_notes *notes) {
    const struct memory_view *view = document->view, *xprof = document->xprof;
    if (!xprof) {
        add(notes, arena_printf(arena, "XProf cannot show this memory space: %s.", document->xprof_reason));
        return;
    }
    if (xprof->peak_bytes != view->peak_bytes) {
        add(notes, arena_printf(arena,
                                "XProf shows a peak of %" PRId64 " bytes: it simulates one temporary allocation of a "
                                "memory space, here all are counted.",
                                xprof->peak_bytes));
    }
    int64_t xprof_padding = xprof->replay.peak_bytes - xprof->replay.peak_unpadded_bytes;
    if (xprof_padding != view->padding_bytes) {
        add(notes,
            arena_printf(arena,
                         "XProf shows %s of padding: it counts that of temporaries only, here parameters, outputs "
                         "and constants are counted too.",
                         exact(xprof_padding, arena)));
    }
}

void memory_view_notes_make(const struct memory_view_document *document, struct arena *arena,
                            struct memory_view_notes *notes) {
    *notes = (struct memory_view_notes){0};
    note_simulation(document->view, arena, notes);
    note_thread_local(document->view, arena, notes);
    note_xprof(document, arena, notes);
    if (document->summaries.fault.code != ERROR_NONE) {
        add(notes,
            arena_printf(arena, "A memory space is left out of the list: %s.", document->summaries.fault.message));
    }
}
