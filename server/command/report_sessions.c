#include "server/command/report_sessions.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/text/printable.h"

enum { NAMES_SHOWN = 3, NAMES_TEXT_BYTES = 256 };

static int newest_first(const void *left, const void *right) {
    const struct catalog_session *a = left, *b = right;
    return strcmp(b->name, a->name);
}

static bool list_all(struct report_sessions *sessions, struct arena *arena) {
    const struct catalog *catalog = &sessions->catalog;
    size_t count = catalog->session_count, all = count + catalog->pending_count;
    sessions->items = arena_new(arena, struct catalog_session, all);
    if (!sessions->items) return false;
    if (count) memcpy(sessions->items, catalog->sessions, count * sizeof catalog->sessions[0]);
    if (catalog->pending_count) {  // not whole yet, but what there is so far can be told
        memcpy(sessions->items + count, catalog->pending_sessions, catalog->pending_count * sizeof *sessions->items);
        qsort(sessions->items, all, sizeof *sessions->items, newest_first);
    }
    sessions->count = all;
    return true;
}

static void keep_asked(struct report_sessions *sessions, const char *name) {
    size_t kept = 0;
    for (size_t i = 0; i < sessions->count; i++) {
        if (strcmp(sessions->items[i].name, name) == 0) sessions->items[kept++] = sessions->items[i];
    }
    sessions->count = kept;
}

bool report_sessions_find(const struct report_options *options, struct arena *arena, struct report_sessions *sessions,
                          struct report_errors *errors) {
    struct error error;
    *sessions = (struct report_sessions){0};
    bool is_found = catalog_scan(options->path, arena, &sessions->catalog, &error);
    if (is_found && !list_all(sessions, arena))
        is_found = error_set(&error, ERROR_TOO_BIG,
                             "There is not enough memory for the list of sessions; give a folder further down.");
    if (!is_found)
        report_errors_add(errors, &error);
    else if (options->session)
        keep_asked(sessions, options->session);
    return is_found;
}

// --- What is missing ---

// What the scan passed over is said; what it could not open is an error.
static void tell_left_out(const struct catalog *catalog, struct arena *arena, struct report_errors *errors) {
    for (size_t i = 0; i < catalog->left_out_count; i++) {
        const struct catalog_remark *remark = &catalog->left_out[i];
        struct error error;
        if (access(remark->path, R_OK) == 0) {
            fprintf(stderr, "hbmview: %s: left out: %s\n", printable_text(bytes_of(remark->path), arena),
                    printable_text(bytes_of(remark->reason), arena));
            continue;
        }
        error_set(&error, ERROR_UNREADABLE, "%s", remark->reason);
        error_in_file(&error, remark->path, 0);
        report_errors_add(errors, &error);
    }
}

struct known_names {
    char text[NAMES_TEXT_BYTES];
    size_t size, count;
};

static void add_known(struct known_names *known, const char *name) {
    if (known->count++ >= NAMES_SHOWN) return;
    int added = snprintf(known->text + known->size, sizeof known->text - known->size, "%s%.60s",
                         known->size ? ", " : "", name);
    known->size += (size_t)added;
}

static void miss_session(const char *asked, const struct catalog *catalog, struct report_errors *errors) {
    struct known_names known = {.text = ""};
    struct error error;
    for (size_t i = 0; i < catalog->session_count; i++) add_known(&known, catalog->sessions[i].name);
    if (known.count)
        error_set(&error, ERROR_NOT_FOUND, "There is no session \"%.160s\"; there are %zu: %s%s.", asked, known.count,
                  known.text, known.count > NAMES_SHOWN ? ", ..." : "");
    else
        error_set(&error, ERROR_NOT_FOUND, "There is no session \"%.160s\", nor any other.", asked);
    report_errors_add(errors, &error);
}

static void miss_everything(const struct catalog *catalog, struct report_errors *errors) {
    struct error error;
    error_set(&error, ERROR_NOT_FOUND,
              "There are no profiles here; give a log folder (one that holds plugins/profile), a session folder, a "
              "folder that --xla_dump_to filled, or a *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file.");
    error_in_file(&error, catalog->root, 0);
    report_errors_add(errors, &error);
}

void report_sessions_tell_missing(const struct report_options *options, const struct report_sessions *sessions,
                                  struct arena *arena, struct report_errors *errors) {
    tell_left_out(&sessions->catalog, arena, errors);
    if (sessions->count) return;
    if (options->session)
        miss_session(options->session, &sessions->catalog, errors);
    else
        miss_everything(&sessions->catalog, errors);
}
