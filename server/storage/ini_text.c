#include "server/storage/ini_text.h"

#include "analysis/base/text_scan.h"

static struct bytes trimmed(struct bytes text) {
    text_skip_spaces(&text);
    while (text.size && strchr(" \t\r", text.data[text.size - 1])) text.size--;
    return text;
}

// "[profile work]": the section's name.
static bool is_section(struct bytes line, struct bytes *section) {
    if (!text_take(&line, BYTES("[")) || !bytes_ends_with(line, BYTES("]"))) return false;
    line.size--;
    *section = trimmed(line);
    return true;
}

bool ini_find(struct bytes text, struct bytes section, struct bytes name, struct bytes *value) {
    struct bytes current = {0};
    bool found = false;
    while (text.size) {
        struct bytes line = trimmed(text_take_until(&text, '\n'));
        (void)text_take(&text, BYTES("\n"));
        if (line.size == 0 || line.data[0] == '#' || line.data[0] == ';' || is_section(line, &current)) continue;
        struct bytes key = trimmed(text_take_until(&line, '='));
        if (!text_take(&line, BYTES("=")) || !bytes_equal(current, section) || !bytes_equal(key, name)) continue;
        *value = trimmed(line);
        found = true;
    }
    return found;
}
