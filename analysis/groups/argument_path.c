#include "analysis/groups/argument_path.h"

#include "analysis/base/text_writer.h"

struct part {
    struct bytes name;
    bool is_number;
};

static bool is_digits(struct bytes text) {
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    }
    return text.size > 0;
}

static struct bytes without_quotes(struct bytes text) {
    bool is_quoted = text.size >= 2 && (text.data[0] == '\'' || text.data[0] == '"') &&
                     text.data[text.size - 1] == text.data[0];
    return is_quoted ? (struct bytes){text.data + 1, text.size - 2} : text;
}

// The next part: "name" at the start, then ".name", "[3]", "['name']", "[<flat index 3>]". False at the end.
static bool next_part(struct bytes *path, struct part *part) {
    if (!path->size) return false;
    bool is_bracket = path->data[0] == '[', is_dot = path->data[0] == '.';
    size_t start = is_bracket || is_dot ? 1 : 0, end = start;
    while (end < path->size && (is_bracket ? path->data[end] != ']' : path->data[end] != '[' && path->data[end] != '.'))
        end++;
    struct bytes inside = {path->data + start, end - start};
    end += is_bracket && end < path->size;
    *path = (struct bytes){path->data + end, path->size - end};
    *part = (struct part){without_quotes(inside), is_digits(inside)};
    return true;
}

static bool is_box(struct bytes name) {
    static const char *const boxes[] = {"params", "opt_state", "state", "variables", "model_state", "train_state"};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        if (bytes_equal(name, bytes_of(boxes[i]))) return true;
    }
    return false;
}

struct bytes argument_path_root(struct bytes path, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    struct part part;
    size_t named = 0;  // what stands after the last name is a number
    while (next_part(&path, &part)) {
        bool is_first = text.size == 0;
        if (!is_first) text_put(&text, part.is_number ? "[" : ".");
        text_put_bytes(&text, part.name);
        if (!is_first && part.is_number) text_put(&text, "]");
        if (!part.is_number) named = text.size;
        if (!is_first && !part.is_number && !is_box(part.name)) break;
    }
    struct bytes root = text_writer_bytes(&text);
    return named ? (struct bytes){root.data, root.size < named ? root.size : named} : root;
}
