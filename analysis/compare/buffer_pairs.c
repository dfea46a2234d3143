#include "analysis/compare/buffer_pairs.h"

#include <stdlib.h>

// --- Passes ---

enum { WORDS_MAX = 5 };  // the use, and four more

// What a buffer is asked for in one pass.
struct question {
    uint32_t words[WORDS_MAX];
    uint32_t index;  // of the buffer
};

typedef bool ask(const struct compared_buffer *buffer, uint32_t words[WORDS_MAX]);

static void say(uint32_t words[WORDS_MAX], uint32_t first, uint32_t second, uint32_t third, uint32_t fourth) {
    words[1] = first;
    words[2] = second;
    words[3] = third;
    words[4] = fourth;
}

static bool same_argument_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->argument, b->shape, b->element, 0);
    return b->argument;
}

static bool same_argument(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->argument, 0, 0, 0);
    return b->argument;
}

static bool same_instruction(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->op_name, b->opcode, b->shape, b->name);
    return b->op_name;
}

static bool same_operation_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->op_name, b->opcode, b->shape, b->element);
    return b->op_name;
}

static bool same_op_name_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->op_name, b->shape, 0, 0);
    return b->op_name;
}

static bool same_operation_and_form(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->op_name, b->opcode, b->form, b->element);
    return b->op_name;
}

static bool same_operation(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->op_name, b->opcode, 0, 0);
    return b->op_name;
}

static bool same_name_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->name, b->opcode, b->shape, 0);
    return !b->op_name && b->name;
}

static bool same_line_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->source, b->opcode, b->shape, b->primitive);
    return b->source;
}

static bool same_line_and_form(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->source, b->opcode, b->form, b->primitive);
    return b->source && b->use != BUFFER_USE_ARGUMENT;
}

// An argument under another name.
static bool same_shape_of_arguments(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->shape, 0, 0, 0);
    return b->shape && b->use == BUFFER_USE_ARGUMENT;
}

static bool same_primitive_and_shape(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->primitive, b->opcode, b->shape, 0);
    return b->shape;
}

static bool same_name(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->name, b->opcode, b->form, 0);
    return !b->op_name && b->name;
}

// Allocations that name no buffer, damaged ones, and what no buffer explains.
static bool same_place_of_the_nameless(const struct compared_buffer *b, uint32_t words[WORDS_MAX]) {
    say(words, b->row == HLO_NONE, (uint32_t)b->category, b->name, 0);
    return !b->shape;
}

// --- One pass ---

static int by_words(const void *left, const void *right) {
    const struct question *a = left, *b = right;
    for (int i = 0; i < WORDS_MAX; i++) {
        if (a->words[i] != b->words[i]) return a->words[i] < b->words[i] ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

static uint32_t list(const struct compared_buffers *buffers, const uint32_t *pair_of, ask *asked,
                     struct question *questions) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < buffers->count; i++) {
        struct question question = {.words = {(uint32_t)buffers->list[i].use}, .index = i};
        if (pair_of[i] == UNPAIRED && asked(&buffers->list[i], question.words)) questions[count++] = question;
    }
    if (count) qsort(questions, count, sizeof *questions, by_words);
    return count;
}

struct sides {
    const struct compared_buffers *a, *b;
    struct question *of_a, *of_b;
    struct buffer_pairs *pairs;
};

static void pair(const struct sides *sides, ask *asked) {
    uint32_t a_count = list(sides->a, sides->pairs->of_a, asked, sides->of_a);
    uint32_t b_count = list(sides->b, sides->pairs->of_b, asked, sides->of_b);
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        struct question a = sides->of_a[i], b = sides->of_b[j];
        a.index = b.index = 0;
        int order = by_words(&a, &b);
        if (order == 0) {
            sides->pairs->of_a[sides->of_a[i].index] = sides->of_b[j].index;
            sides->pairs->of_b[sides->of_b[j].index] = sides->of_a[i].index;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

bool buffer_pairs_find(const struct compared_buffers *a, const struct compared_buffers *b, struct arena *arena,
                       struct buffer_pairs *pairs) {
    static ask *const passes[] = {same_argument_and_shape, same_argument,
                                  same_instruction,        same_operation_and_shape,
                                  same_op_name_and_shape,  same_name_and_shape,
                                  same_line_and_shape,     same_operation_and_form,
                                  same_operation,          same_name,
                                  same_line_and_form,      same_primitive_and_shape,
                                  same_shape_of_arguments, same_place_of_the_nameless};
    struct sides sides = {a, b, NULL, NULL, pairs};
    sides.of_a = arena_push_raw(arena, a->count, sizeof *sides.of_a);
    sides.of_b = arena_push_raw(arena, b->count, sizeof *sides.of_b);
    pairs->of_a = arena_push_raw(arena, a->count, sizeof *pairs->of_a);
    pairs->of_b = arena_push_raw(arena, b->count, sizeof *pairs->of_b);
    if (!sides.of_a || !sides.of_b || !pairs->of_a || !pairs->of_b) return false;
    for (uint32_t i = 0; i < a->count; i++) pairs->of_a[i] = UNPAIRED;
    for (uint32_t i = 0; i < b->count; i++) pairs->of_b[i] = UNPAIRED;
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) pair(&sides, passes[i]);
    return true;
}
