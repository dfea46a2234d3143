#include "server/xprof/xprof_memory_viewer.h"

#include "server/xprof/xprof_peak.h"

static void write_curve(const struct memory_view *view, const char *key, const int64_t *bytes, struct json_writer *w) {
    json_open_array_key(w, key);
    for (uint32_t i = 0; i <= view->replay.step_count; i++) json_write_mib(w, bytes[i] + view->indefinite_bytes);
    json_close_array(w);
}

static void write_instruction_names(const struct memory_view *view, struct json_writer *w) {
    json_open_array_key(w, "hloInstructionNames");
    for (uint32_t i = 0; i <= view->replay.step_count; i++) json_write_string(w, view->replay.instruction_names[i]);
    json_close_array(w);
}

static void write_spans(const struct memory_view *view, struct json_writer *w) {
    json_open_object_key(w, "logicalBufferSpans");
    for (uint32_t i = view->indefinite_row_count; i < view->row_count; i++) {
        const struct memory_buffer *row = &view->rows[i];
        json_write_int64_text(w, view->module->buffers[row->buffer].id);
        json_end_key(w);
        json_open_object(w);
        xprof_int64_key(w, "start", row->start_step);
        xprof_int64_key(w, "limit", row->end_step);
        json_close_object(w);
    }
    json_close_object(w);
}

// XProf adds the whole of the indefinite buffers to the unpadded curve too, so their padding is never counted.
static void write_simulation(const struct memory_view *view, struct json_writer *w) {
    if (!view->has_simulation) return;
    write_curve(view, "heapSizes", view->replay.heap_bytes, w);
    write_curve(view, "unpaddedHeapSizes", view->replay.unpadded_bytes, w);
    write_instruction_names(view, w);
    write_spans(view, w);
    xprof_int64_key(w, "peakHeapSizePosition", view->replay.peak_position);
}

struct special_bytes {
    int64_t entry_parameter, non_reusable, maybe_live_out;
};

static struct special_bytes sum_special(const struct memory_view *view) {
    struct special_bytes sum = {0};
    for (uint32_t i = 0; i < view->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &view->module->allocations[i];
        if (allocation->color != view->totals.space) continue;
        bool is_reusable = !allocation->is_thread_local && !allocation->is_tuple;
        if (allocation->is_entry_parameter) sum.entry_parameter += allocation->size_bytes;
        if (allocation->maybe_live_out) sum.maybe_live_out += allocation->size_bytes;
        if (!is_reusable) sum.non_reusable += allocation->size_bytes;
    }
    return sum;
}

static void write_figures(const struct memory_view *view, struct scoped_vmem scoped_vmem, struct json_writer *w) {
    struct special_bytes special = sum_special(view);
    json_write_string_key(w, "moduleName", view->module->name);
    xprof_string_key(w, "entryComputationName", view->module->entry_computation_name);
    xprof_mib_key(w, "peakHeapMib", view->indefinite_bytes + view->replay.peak_bytes);
    xprof_mib_key(w, "peakUnpaddedHeapMib", view->indefinite_bytes + view->replay.peak_unpadded_bytes);
    xprof_mib_key(w, "entryComputationParametersMib", special.entry_parameter);
    xprof_mib_key(w, "nonReusableMib", special.non_reusable);
    xprof_mib_key(w, "maybeLiveOutMib", special.maybe_live_out);
    xprof_mib_key(w, "totalBufferAllocationMib", view->totals.total_bytes);
    xprof_mib_key(w, "indefiniteBufferAllocationMib", view->totals.indefinite_bytes);
    xprof_mib_key(w, "maxScopedVmemAllocationMib", scoped_vmem.bytes);
    xprof_string_key(w, "maxScopedVmemInstructionName", scoped_vmem.instruction);
}

bool xprof_memory_viewer_write(const struct memory_view *view, struct scoped_vmem scoped_vmem, struct arena *scratch,
                               struct json_writer *w, struct error *error) {
    struct xprof_words words;
    struct xprof_peak peak;
    if (!xprof_words_init(&words, view, scratch) || !xprof_peak_collect(view, &words, &peak)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    }
    json_open_object(w);
    write_figures(view, scoped_vmem, w);
    write_simulation(view, w);
    xprof_peak_write(&peak, &words, w);
    xprof_lifetimes_write(view, &words, w);
    xprof_blocks_write(view, &peak, &words, w);
    json_close_object(w);
    return true;
}
