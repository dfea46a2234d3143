#include "analysis/advice/source_line.h"

int32_t source_line_of(const struct hlo_module *module, uint32_t instruction) {
    struct bytes metadata = hlo_instruction_read(module, instruction).metadata;
    return hlo_instruction_metadata(module, instruction, metadata).stack_frame_id;
}
