#include "server/document/hlo_around_json.h"

static void write_names(struct json_writer *w, const char *key, const struct bytes *names, uint32_t count) {
    json_open_array_key(w, key);
    for (uint32_t i = 0; i < count; i++) json_write_string(w, names[i]);
    json_close_array(w);
}

void hlo_around_json_write(const struct hlo_around *around, struct json_writer *w) {
    json_write_string_key(w, "instruction", around->instruction);
    json_write_string_key(w, "computation", around->computation);
    write_names(w, "operands", around->operands, around->operand_count);
    json_write_int64_key(w, "operands_left_out", around->operands_left_out);
    write_names(w, "users", around->users, around->user_count);
    json_write_int64_key(w, "users_left_out", around->users_left_out);
    json_write_int64_key(w, "computation_operations", around->computation_lines);
    json_write_int64_key(w, "computation_left_out", around->computation_left_out);
    json_write_text_key(w, "text", around->text);
    json_write_text_key(w, "note",
                        "Left out: literals, windows, dimension numbers, shardings and the backend's settings.");
}
