#include "analysis/hlo/hlo_load_stack_frames.h"

#include "analysis/hlo/hlo_message.h"
#include "proto/hlo_fields.h"

static bool count_parts(struct bytes message, struct hlo_module *module, struct error *error) {
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        module->file_name_count += f.number == STACK_INDEX_FILE_NAMES;
        module->function_name_count += f.number == STACK_INDEX_FUNCTION_NAMES;
        module->stack_location_count += f.number == STACK_INDEX_FILE_LOCATIONS;
        module->stack_frame_count += f.number == STACK_INDEX_STACK_FRAMES;
    }
    return !w.fault || hlo_message_fault(error, module->blob, &w, "StackFrameIndexProto");
}

static struct hlo_stack_location read_location(struct bytes message) {
    struct hlo_stack_location location = {0};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        switch (f.number) {
            case FILE_LOCATION_FILE_NAME_ID:
                location.file = wire_int32(&f);
                break;
            case FILE_LOCATION_FUNCTION_NAME_ID:
                location.function = wire_int32(&f);
                break;
            case FILE_LOCATION_LINE:
                location.line = wire_int32(&f);
                break;
            case FILE_LOCATION_COLUMN:
                location.column = wire_int32(&f);
                break;
            default:
                break;
        }
    }
    return location;
}

static struct hlo_stack_frame read_frame(struct bytes message) {
    struct hlo_stack_frame frame = {0};
    struct wire w = wire_open(message);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.number == STACK_FRAME_FILE_LOCATION_ID) frame.location = wire_int32(&f);
        if (f.number == STACK_FRAME_PARENT_FRAME_ID) frame.parent = wire_int32(&f);
    }
    return frame;
}

bool hlo_load_stack_frames(struct arena *arena, struct hlo_module *module, struct error *error) {
    if (!count_parts(module->stack_frame_index, module, error)) return false;
    module->file_names = arena_new(arena, struct bytes, module->file_name_count);
    module->function_names = arena_new(arena, struct bytes, module->function_name_count);
    module->stack_locations = arena_new(arena, struct hlo_stack_location, module->stack_location_count);
    module->stack_frames = arena_new(arena, struct hlo_stack_frame, module->stack_frame_count);
    if (!module->file_names || !module->function_names || !module->stack_locations || !module->stack_frames) {
        return hlo_message_too_big(error, arena);
    }
    uint32_t file = 0, function = 0, location = 0, frame = 0;
    struct wire w = wire_open(module->stack_frame_index);
    struct wire_field f;
    while (wire_next(&w, &f)) {
        if (f.type != WIRE_LEN) continue;
        switch (f.number) {
            case STACK_INDEX_FILE_NAMES:
                module->file_names[file++] = f.payload;
                break;
            case STACK_INDEX_FUNCTION_NAMES:
                module->function_names[function++] = f.payload;
                break;
            case STACK_INDEX_FILE_LOCATIONS:
                module->stack_locations[location++] = read_location(f.payload);
                break;
            case STACK_INDEX_STACK_FRAMES:
                module->stack_frames[frame++] = read_frame(f.payload);
                break;
            default:
                break;
        }
    }
    return true;
}
