#include "server/storage/access_pattern.h"

enum { RUN_BYTES_MIN = 128 << 10 };

struct access_pattern access_pattern_of(uint64_t size_bytes, uint64_t ahead_bytes_max) {
    return (struct access_pattern){.size_bytes = size_bytes, .ahead_bytes_max = ahead_bytes_max};
}

void access_pattern_expect(struct access_pattern *pattern, uint64_t offset, uint64_t size) {
    pattern->expected = (struct access_range){offset, size};
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void add(struct access_guesses *guesses, uint64_t begin, uint64_t end) {
    if (begin < end && guesses->count < PATTERN_STRIDES_MAX)
        guesses->ranges[guesses->count++] = (struct access_range){begin, end - begin};
}

// --- Going on ---

static bool is_expected(const struct access_pattern *pattern, uint64_t offset) {
    return offset >= pattern->expected.offset && offset - pattern->expected.offset < pattern->expected.size;
}

static uint64_t ahead_of(const struct access_pattern *pattern) {
    if (is_expected(pattern, pattern->next)) {
        uint64_t left = pattern->expected.offset + pattern->expected.size - pattern->next;
        return least(left, pattern->ahead_bytes_max);
    }
    if (pattern->run_bytes < RUN_BYTES_MIN) return 0;
    return least(pattern->run_bytes * PATTERN_AHEAD_TIMES, pattern->ahead_bytes_max);
}

// Asks again only when half of what was asked for is used up: few requests, and never none under way.
static void guess_ahead(struct access_pattern *pattern, struct access_guesses *guesses) {
    uint64_t ahead = ahead_of(pattern), end = least(pattern->next + ahead, pattern->size_bytes);
    uint64_t begin = pattern->asked_until > pattern->next ? pattern->asked_until : pattern->next;
    if (ahead == 0 || begin >= end || (begin - pattern->next > ahead / 2 && end < pattern->size_bytes)) return;
    add(guesses, begin, end);
    pattern->asked_until = end;
}

// --- Jumping ---

static bool is_near(uint64_t a, uint64_t b) {
    return (a > b ? a - b : b - a) <= PATTERN_SLACK_BYTES;
}

static void guess_heads(struct access_pattern *pattern, uint64_t offset, struct access_guesses *guesses) {
    for (unsigned i = 1; i <= pattern->strides; i++) {
        uint64_t head = offset + i * pattern->stride;
        if (head >= pattern->size_bytes) return;
        if (head <= pattern->guessed_until + PATTERN_SLACK_BYTES) continue;
        add(guesses, head - PATTERN_SLACK_BYTES, least(head + PATTERN_SLACK_BYTES, pattern->size_bytes));
        pattern->guessed_until = head;
    }
}

// How many heads to guess after a jump: one after the first, then twice as many each time the guess was right.
static unsigned strides_to_guess(struct access_pattern *pattern, uint64_t stride) {
    bool is_first = pattern->stride == 0, is_regular = !is_first && is_near(stride, pattern->stride);
    if (is_regular) return (unsigned)least(pattern->strides ? pattern->strides * 2u : 2u, PATTERN_STRIDES_MAX);
    pattern->wrong += pattern->strides;
    return is_first ? 1 : 0;
}

static void note_jump(struct access_pattern *pattern, uint64_t offset, struct access_guesses *guesses) {
    uint64_t stride = offset > pattern->jumped_to ? offset - pattern->jumped_to : 0;
    pattern->jumped_to = offset;
    if (stride < PATTERN_STRIDE_BYTES_MIN) return;
    pattern->strides = strides_to_guess(pattern, stride);
    pattern->stride = stride;
    if (pattern->strides == 0) pattern->guessed_until = 0;
    if (pattern->wrong < PATTERN_GUESSES_WRONG_MAX) guess_heads(pattern, offset, guesses);
}

struct access_guesses access_pattern_note(struct access_pattern *pattern, uint64_t offset, uint64_t size) {
    struct access_guesses guesses = {.count = 0};
    bool goes_on = offset <= pattern->next + PATTERN_GAP_BYTES && offset + size >= pattern->next;
    if (goes_on) {
        pattern->run_bytes += size;
    } else {
        pattern->run_bytes = pattern->asked_until = 0;  // a jump alone, however much it reads, goes nowhere yet
        if (!is_expected(pattern, offset)) note_jump(pattern, offset, &guesses);
    }
    pattern->next = offset + size;
    guess_ahead(pattern, &guesses);
    return guesses;
}
