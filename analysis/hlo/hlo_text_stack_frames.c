#include "analysis/hlo/hlo_text_stack_frames.h"

#include "analysis/hlo/hlo_text_encode.h"
#include "proto/hlo_fields.h"

// The value of "key=" among words between spaces; 0 when there is none.
static int64_t number_of(struct bytes words, struct bytes key) {
    int64_t value;
    while (words.size) {
        if (text_take(&words, key) && text_take_int64(&words, &value)) return value;
        (void)text_take_until(&words, ' ');
        text_skip_spaces(&words);
    }
    return 0;
}

static void encode_location(struct text_writer *w, struct bytes words) {
    size_t mark = encode_open(w, STACK_INDEX_FILE_LOCATIONS);
    encode_varint(w, FILE_LOCATION_FILE_NAME_ID, (uint64_t)number_of(words, BYTES("file_name_id=")));
    encode_varint(w, FILE_LOCATION_FUNCTION_NAME_ID, (uint64_t)number_of(words, BYTES("function_name_id=")));
    encode_varint(w, FILE_LOCATION_LINE, (uint64_t)number_of(words, BYTES("line=")));
    encode_varint(w, FILE_LOCATION_COLUMN, (uint64_t)number_of(words, BYTES("column=")));
    encode_close(w, mark);
}

static void encode_frame(struct text_writer *w, struct bytes words) {
    int64_t parent = number_of(words, BYTES("parent_frame_id="));
    size_t mark = encode_open(w, STACK_INDEX_STACK_FRAMES);
    encode_varint(w, STACK_FRAME_FILE_LOCATION_ID, (uint64_t)number_of(words, BYTES("file_location_id=")));
    if (parent > 1) encode_varint(w, STACK_FRAME_PARENT_FRAME_ID, (uint64_t)(parent - 1));
    encode_close(w, mark);
}

static uint32_t field_of(struct bytes title) {
    if (bytes_equal(title, BYTES("FileNames"))) return STACK_INDEX_FILE_NAMES;
    if (bytes_equal(title, BYTES("FunctionNames"))) return STACK_INDEX_FUNCTION_NAMES;
    if (bytes_equal(title, BYTES("FileLocations"))) return STACK_INDEX_FILE_LOCATIONS;
    if (bytes_equal(title, BYTES("StackFrames"))) return STACK_INDEX_STACK_FRAMES;
    return 0;
}

// "2 ..." of a section: false where it ends.
static bool encode_entry(struct text_writer *w, uint32_t field, int64_t expected, struct bytes line,
                         struct arena *arena) {
    int64_t number;
    struct bytes inside;
    if (!text_take_int64(&line, &number) || number != expected || !text_take(&line, BYTES(" "))) return false;
    if (text_take_quoted(&line, &inside)) {
        encode_bytes(w, field, text_unescape(inside, arena));
    } else if (text_take_brackets(&line, &inside)) {
        if (field == STACK_INDEX_FILE_LOCATIONS) encode_location(w, inside);
        if (field == STACK_INDEX_STACK_FRAMES) encode_frame(w, inside);
    }
    return true;
}

void hlo_text_encode_stack_frames(struct text_writer *w, struct text_lines lines, struct arena *arena) {
    size_t mark = encode_open(w, HLO_MODULE_STACK_FRAME_INDEX);
    uint32_t field = 0;
    int64_t next = 1;
    for (struct bytes line; text_lines_next(&lines, &line) && !bytes_ends_with(line, BYTES("{"));) {
        if (field && encode_entry(w, field, next, line, arena)) {
            next++;
            continue;
        }
        field = field_of(line);
        next = 1;
    }
    encode_close(w, mark);
}
