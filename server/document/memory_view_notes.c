#include "server/document/memory_view_document.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/size_text.h"

static void add(struct memory_view_notes *notes, const char *text) {
    if (text && notes->count < MEMORY_VIEW_NOTES_MAX) notes->texts[notes->count++] = text;
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
                                view->unsimulated_temporary_count,
                                size_exact_string(view->unsimulated_temporary_bytes, arena)));
    }
    if (view->has_simulation && view->fragmentation_bytes < 0) {
        add(notes,
            arena_printf(
                arena,
                "The simulated peak is %s above what is allocated: the compiler lets some of these buffers share "
                "addresses, and the simulation counts such bytes for each.",
                size_exact_string(-view->fragmentation_bytes, arena)));
    }
}

static void note_thread_local(const struct memory_view *view, struct arena *arena, struct memory_view_notes *notes) {
    int64_t bytes = view->totals.bytes[ALLOCATION_THREAD_LOCAL];
    if (!bytes) return;
    add(notes, arena_printf(arena,
                            "Thread-local allocations, %s, are in neither the peak nor the total, as in XProf; the "
                            "compiler's own memory-usage report counts them.",
                            size_exact_string(bytes, arena)));
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
                         size_exact_string(xprof_padding, arena)));
    }
}

static const char *name_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// Text dumps hold less than protos.
static void note_text(const struct dump_facts *dump, struct memory_view_notes *notes) {
    if (!dump->is_text) return;
    add(notes, dump->has_live_ranges
                   ? "Read from a text dump: the simulation is made from the compiler's live ranges, where the proto "
                     "has the compiler's own; shardings are not known. --xla_dump_hlo_as_proto gives them."
                   : "Read from a text dump without live ranges: when temporaries live is not known. "
                     "--xla_dump_hlo_as_proto gives it.");
    if (!dump->has_program_text)
        add(notes, "The dump has no after_optimizations.txt of this module: operations and source lines are missing.");
}

static void note_report(const struct memory_view_document *document, struct arena *arena,
                        struct memory_view_notes *notes) {
    const struct dump_facts *dump = &document->dump;
    if (dump->report_problem)
        add(notes, arena_printf(arena, "The compiler's memory-usage report, %s, cannot be read: %s.",
                                name_of(dump->report_path), dump->report_problem));
    if (!dump->has_report) return;
    struct usage_comparison comparison = usage_report_compare(&dump->report, &document->view->totals);
    int64_t difference = comparison.difference_bytes;
    if (comparison.agrees) return;
    add(notes,
        arena_printf(arena,
                     "The compiler's own memory-usage report counts %" PRId64
                     " bytes in this memory space, thread-local ones included; the buffers here are %s %s. One "
                     "of the two files may be cut, or from another compile.",
                     comparison.reported_bytes, size_exact_string(difference < 0 ? -difference : difference, arena),
                     difference < 0 ? "less" : "more"));
}

static void note_oom(const struct dump_facts *dump, struct arena *arena, struct memory_view_notes *notes) {
    if (!dump->oom_path) return;
    add(notes, arena_printf(arena,
                            "The compile of this module ran out of memory: the dump holds %s, the program at that "
                            "point, without buffers. What is shown is the assignment that did not fit.",
                            name_of(dump->oom_path)));
}

void memory_view_notes_make(const struct memory_view_document *document, struct arena *arena,
                            struct memory_view_notes *notes) {
    *notes = (struct memory_view_notes){0};
    note_oom(&document->dump, arena, notes);
    note_report(document, arena, notes);
    note_simulation(document->view, arena, notes);
    note_thread_local(document->view, arena, notes);
    note_xprof(document, arena, notes);
    note_text(&document->dump, notes);
    if (document->summaries.fault.code != ERROR_NONE) {
        add(notes,
            arena_printf(arena, "A memory space is left out of the list: %s.", document->summaries.fault.message));
    }
}
