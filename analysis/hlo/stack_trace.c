#include "analysis/hlo/stack_trace.h"

static struct bytes name_at(const struct bytes *names, uint32_t count, int32_t id) {
    return id >= 1 && (uint32_t)id <= count ? names[id - 1] : (struct bytes){0};
}

static struct stack_trace_frame frame_at(const struct hlo_module *module, int32_t location_id) {
    struct stack_trace_frame frame = {0};
    if (location_id < 1 || (uint32_t)location_id > module->stack_location_count) return frame;
    const struct hlo_stack_location *location = &module->stack_locations[location_id - 1];
    frame.file = name_at(module->file_names, module->file_name_count, location->file);
    frame.function = name_at(module->function_names, module->function_name_count, location->function);
    frame.line = location->line;
    frame.column = location->column;
    return frame;
}

size_t stack_trace_read(const struct hlo_module *module, int32_t stack_frame_id, struct stack_trace_frame *frames,
                        size_t capacity) {
    size_t count = 0;
    int32_t id = stack_frame_id;
    while (count < capacity && id >= 1 && (uint32_t)id <= module->stack_frame_count) {
        const struct hlo_stack_frame *frame = &module->stack_frames[id - 1];
        frames[count++] = frame_at(module, frame->location);
        if (frame->parent == id) break;  // some writers make the root its own parent
        id = frame->parent;
    }
    return count;
}

struct stack_trace_frame stack_trace_place(const struct hlo_module *module, const struct hlo_metadata *metadata) {
    struct stack_trace_frame place = {.file = metadata->source_file, .line = metadata->source_line};
    if (!place.file.size) stack_trace_read(module, metadata->stack_frame_id, &place, 1);
    return place;
}
