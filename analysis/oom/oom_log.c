#include "analysis/oom/oom_log.h"

#include <string.h>

#include "analysis/base/growing_array.h"
#include "analysis/oom/oom_shapes.h"
#include "analysis/oom/oom_text.h"

enum { WEAK_NEAR_BYTES = 512, CODE_BYTES = 160 };

static const struct anchor_kind {
    const char *words;
    enum oom_kind kind;
    bool is_weak;
    const char *error_code;  // what the message is an instance of, where it does not say so itself
    oom_parser *parse;
} kinds[] = {
    {"Ran out of memory in memory space", OOM_COMPILE, false, "E1000", oom_parse_used},
    {"Ran out of memory on", OOM_COMPILE, false, "E1000", oom_parse_required},
    {"TensorCore Hbm usage:", OOM_TENSORCORE_SPARSECORE, false, "E1000", oom_parse_cores},
    {"Allocation (size=", OOM_ALLOCATION_EXCEEDS_MEMORY, false, "E1000", oom_parse_exceeds},
    {"Error loading program", OOM_PROGRAM_LOAD, false, "0101", oom_parse_program},
    {"Attempting to allocate", OOM_RUNTIME_ALLOCATION, false, NULL, oom_parse_allocate},
    {"Out of memory while trying to allocate", OOM_GPU_ALLOCATION, false, NULL, oom_parse_gpu},
    {"Out of memory allocating", OOM_GPU_ALLOCATION, false, NULL, oom_parse_gpu},
    {"Allocator (", OOM_GPU_ALLOCATOR, false, NULL, oom_parse_allocator},
    {"total memory required for", OOM_COMPILE, true, "E1000", oom_parse_required_tail},
    {"CompileTimeHbmOom", OOM_COMPILE, true, "E1000", oom_parse_oom_name},
    {"Used", OOM_COMPILE, true, "E1000", oom_parse_used_tail},
    {"Attempting to reserve", OOM_PROGRAM_LOAD, true, "0101", oom_parse_reserve},
    {"BufferAssignment OOM Debugging", OOM_GPU_ALLOCATION, true, NULL, oom_parse_gpu_report},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct anchor {
    uint32_t at, end;  // the words
    uint32_t kind;
};

struct anchor_list {
    struct anchor *items;
    size_t count;
};

// --- Where messages may begin ---

// Step over an anchor's words if one stands at `at`; returns its kind, KINDS for none.
static uint32_t kind_at(struct oom_cursor *at) {
    for (uint32_t i = 0; i < KINDS; i++) {
        if (oom_take(at, kinds[i].words)) return i;
    }
    return KINDS;
}

static void first_letters(bool is_first[256]) {
    memset(is_first, 0, 256);
    for (size_t i = 0; i < KINDS; i++) {
        uint8_t letter = oom_lower((uint8_t)kinds[i].words[0]);
        is_first[letter] = is_first[letter - 'a' + 'A'] = true;
    }
}

static bool add_anchor(struct anchor_list *list, struct anchor anchor, uint32_t most, struct arena *arena,
                       struct error *error) {
    if (list->count == most)
        return error_set(
            error, ERROR_TOO_BIG,
            "The log has more than %u words that a message may begin with; give the part around the error.", most);
    return growing_array_add(arena, list->items, list->count, anchor) || oom_text_no_room(arena, error);
}

static bool find_anchors(struct bytes text, struct arena *arena, struct anchor_list *list, struct error *error) {
    bool is_first[256];
    uint32_t most = oom_text_lines_max(text.size);
    first_letters(is_first);
    for (size_t i = 0; i < text.size; i++) {
        if (!is_first[text.data[i]]) continue;
        struct oom_cursor at = {text.data + i, text.data + text.size};
        uint32_t kind = kind_at(&at);
        if (kind == KINDS) continue;
        size_t end = (size_t)(at.at - text.data);
        struct anchor anchor = {(uint32_t)i, (uint32_t)end, kind};
        if (!add_anchor(list, anchor, most, arena, error)) return false;
        i = end - 1;
    }
    return true;
}

// --- One message ---

// "E1000" of "E1000: CompileTimeHbmOom: ..." before the anchor.
static const char *written_code(struct bytes text, size_t at, struct arena *arena) {
    enum { CODE_SIZE = 5 };
    size_t from = at > CODE_BYTES ? at - CODE_BYTES : 0;
    for (size_t i = at; i >= from + CODE_SIZE + 1; i--) {
        const uint8_t *code = text.data + i - CODE_SIZE - 1;
        bool is_code = code[0] == 'E' && code[CODE_SIZE] == ':';
        for (size_t k = 1; k < CODE_SIZE; k++) is_code &= oom_is_digit(code[k]);
        bool is_word = code == text.data || !oom_is_letter(code[-1]);
        if (is_code && is_word) return arena_string(arena, (struct bytes){code, CODE_SIZE});
    }
    return NULL;
}

static const char *code_of(const struct anchor_kind *kind, const struct oom_message *message, const char *written) {
    if (kind->kind == OOM_PROGRAM_LOAD) return kind->error_code;
    if (written) return written;
    bool is_hbm = !message->memory_space || strcmp(message->memory_space, "hbm") == 0;
    return is_hbm ? kind->error_code : NULL;
}

static bool parse(const struct anchor *anchor, struct bytes text, size_t end, struct arena *arena,
                  struct oom_message *message, size_t *parsed_end) {
    const struct anchor_kind *kind = &kinds[anchor->kind];
    struct oom_cursor cursor = {text.data + anchor->end, text.data + end};
    *message = oom_message_empty(kind->kind);
    if (!kind->parse(&cursor, arena, message)) return false;
    message->error_code = code_of(kind, message, written_code(text, anchor->at, arena));
    *parsed_end = (size_t)(cursor.at - text.data);
    return true;
}

// --- The list ---

static struct oom_message *find_same(const struct oom_log *found, const struct oom_message *message) {
    for (size_t i = 0; i < found->message_count; i++) {
        if (oom_message_is_same(&found->messages[i], message)) return &found->messages[i];
    }
    return NULL;
}

// What an allocator tries several times before it fails is one failure: the warnings right before an error join it.
static void join_warnings(struct oom_log *found, struct oom_message *error) {
    for (; found->message_count; found->message_count--) {
        const struct oom_message *latest = &found->messages[found->message_count - 1];
        if (!oom_message_is_warning_of(latest, error)) return;
        oom_message_take_warning(error, latest);
    }
}

static void keep(struct oom_log *found, struct oom_message *message) {
    struct oom_message *known = find_same(found, message);
    join_warnings(found, message);
    if (known)
        oom_message_merge(known, message);
    else if (found->message_count == OOM_MESSAGES_MAX)
        found->left_out++;
    else
        found->messages[found->message_count++] = *message;
}

// Where the next strong anchor after number `i` is; the end of the text when there is none.
static size_t next_strong(const struct anchor_list *list, size_t *next, size_t i, size_t text_size) {
    while (*next < list->count && (*next <= i || kinds[list->items[*next].kind].is_weak)) (*next)++;
    return *next < list->count ? list->items[*next].at : text_size;
}

bool oom_log_read(struct bytes log, struct arena *arena, struct oom_log *found, struct error *error) {
    struct oom_text text;
    struct anchor_list anchors = {0};
    *found = (struct oom_log){.messages = arena_new(arena, struct oom_message, OOM_MESSAGES_MAX)};
    if (!found->messages) return oom_text_no_room(arena, error);
    if (!oom_text_read(log, arena, &text, error) || !find_anchors(text.text, arena, &anchors, error)) return false;
    size_t parsed_end = 0, next = 0;
    for (size_t i = 0; i < anchors.count; i++) {
        const struct anchor *anchor = &anchors.items[i];
        struct oom_message message;
        size_t end = next_strong(&anchors, &next, i, text.text.size);
        bool is_weak = kinds[anchor->kind].is_weak;
        if (is_weak && (anchor->at < parsed_end || (end < text.text.size && end - anchor->end < WEAK_NEAR_BYTES)))
            continue;
        if (!parse(anchor, text.text, end, arena, &message, &parsed_end)) continue;
        message.line = oom_text_line(&text, anchor->at);
        message.last_line = oom_text_line(&text, parsed_end);
        keep(found, &message);
    }
    return true;
}
