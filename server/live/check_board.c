#include "server/live/check_board.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Of one program: its names, each with its NUL, and behind them the text.
struct note {
    struct output content;
    size_t text_at;
    int64_t told_ms;
};

struct check_board {
    pthread_mutex_t lock;
    struct note notes[CHECK_BOARD_MAX];
    size_t count;
};

struct check_board *check_board_new(void) {
    struct check_board *board = calloc(1, sizeof *board);
    if (board) pthread_mutex_init(&board->lock, NULL);
    return board;
}

void check_board_free(struct check_board *board) {
    if (!board) return;
    for (size_t i = 0; i < board->count; i++) output_free(&board->notes[i].content);
    pthread_mutex_destroy(&board->lock);
    free(board);
}

// --- Which note (the lock is held) ---

static bool is_of(const struct note *note, const struct checked_program *program) {
    const char *session = note->content.data;
    return strcmp(session, program->session) == 0 && strcmp(session + strlen(session) + 1, program->module) == 0;
}

static struct note *find(struct check_board *board, const struct checked_program *program) {
    for (size_t i = 0; i < board->count; i++) {
        if (is_of(&board->notes[i], program)) return &board->notes[i];
    }
    return NULL;
}

static struct note *oldest(struct check_board *board) {
    struct note *found = &board->notes[0];
    for (size_t i = 1; i < board->count; i++) {
        if (board->notes[i].told_ms < found->told_ms) found = &board->notes[i];
    }
    return found;
}

static struct note *place_for(struct check_board *board, const struct checked_program *program) {
    struct note *note = find(board, program);
    if (note) return note;
    return board->count < CHECK_BOARD_MAX ? &board->notes[board->count++] : oldest(board);
}

// --- What is told ---

static bool write_note(struct note *note, const struct checked_program *program, struct bytes text) {
    output_init(&note->content, 2 * CHECK_NAME_MAX_BYTES + CHECK_TEXT_MAX_BYTES);
    output_put(&note->content, program->session);
    output_append_char(&note->content, '\0');
    output_put(&note->content, program->module);
    output_append_char(&note->content, '\0');
    note->text_at = note->content.size;
    output_append(&note->content, text);
    output_trim(&note->content);
    return !note->content.failed;
}

static bool is_short(const char *name) {
    return strlen(name) < CHECK_NAME_MAX_BYTES;
}

bool check_board_put(struct check_board *board, const struct checked_program *program, struct bytes text,
                     int64_t now_ms) {
    struct note note = {.told_ms = now_ms};
    if (text.size > CHECK_TEXT_MAX_BYTES || !is_short(program->session) || !is_short(program->module)) return false;
    if (!write_note(&note, program, text)) {
        output_free(&note.content);
        return false;
    }
    pthread_mutex_lock(&board->lock);
    struct note *place = place_for(board, program), before = *place;
    *place = note;
    pthread_mutex_unlock(&board->lock);
    output_free(&before.content);
    return true;
}

bool check_board_read(struct check_board *board, const struct checked_program *program, int64_t now_ms,
                      struct output *text, int64_t *age_ms) {
    pthread_mutex_lock(&board->lock);
    const struct note *note = find(board, program);
    if (note) {
        const struct bytes content = output_bytes(&note->content);
        output_append(text, (struct bytes){content.data + note->text_at, content.size - note->text_at});
        *age_ms = now_ms - note->told_ms;
    }
    pthread_mutex_unlock(&board->lock);
    return note != NULL;
}
