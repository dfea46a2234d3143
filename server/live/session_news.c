#include "server/live/session_news.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/growing_array.h"
#include "analysis/input/session_stamp.h"

// --- Files of a session that changed ---

static int by_name(const void *left, const void *right) {
    const struct input_file *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static const struct input_file **sorted(const struct session_files *files, struct arena *scratch) {
    const struct input_file **names = arena_new(scratch, const struct input_file *, files->file_count + 1);
    for (size_t i = 0; names && i < files->file_count; i++) names[i] = &files->files[i];
    if (names && files->file_count) qsort(names, files->file_count, sizeof(const struct input_file *), by_name);
    return names;
}

static bool count_files(const struct session_files *before, const struct session_files *now, struct arena *scratch,
                        struct session_news *news) {
    const struct input_file **old = sorted(before, scratch), **new = sorted(now, scratch);
    size_t i = 0, k = 0;
    if (!old || !new) return false;
    while (i < before->file_count || k < now->file_count) {
        bool is_old = i < before->file_count, is_new = k < now->file_count;
        int order = !is_old ? 1 : !is_new ? -1 : strcmp(old[i]->name, new[k]->name);
        news->files_removed += order < 0;
        news->files_added += order > 0;
        news->files_changed += order == 0 && !file_version_equal(&old[i]->version, &new[k]->version);
        i += order <= 0;
        k += order >= 0;
    }
    return true;
}

// --- Sessions ---

struct list {
    const struct catalog_session *sessions;  // reverse lexicographic
    size_t count;
};

struct comparison {
    struct arena *arena;
    struct catalog_news *news;
    bool is_device_memory;
};

static bool add(struct comparison *at, enum news_kind kind, const struct catalog_session *session,
                const struct catalog_session *before) {
    struct session_news item = {.kind = kind, .session = session, .is_device_memory = at->is_device_memory};
    return (!before || count_files(&before->files, &session->files, at->arena, &item)) &&
           growing_array_add(at->arena, at->news->items, at->news->count, item);
}

static bool compare(struct comparison *at, struct list before, struct list now) {
    size_t i = 0, k = 0;
    while (i < before.count || k < now.count) {
        const struct catalog_session *old = i < before.count ? &before.sessions[i] : NULL;
        const struct catalog_session *new = k < now.count ? &now.sessions[k] : NULL;
        int order = !old ? 1 : !new ? -1 : strcmp(new->name, old->name);
        bool ok = true;
        if (order < 0) ok = add(at, NEWS_REMOVED, old, NULL);
        if (order > 0) ok = add(at, NEWS_ADDED, new, NULL);
        if (order == 0 && session_stamp(old) != session_stamp(new)) ok = add(at, NEWS_CHANGED, new, old);
        if (!ok) return false;
        i += order <= 0;
        k += order >= 0;
    }
    return true;
}

static bool has_same_pending(const struct catalog *before, const struct catalog *now) {
    if (before->pending_count != now->pending_count) return false;
    for (size_t i = 0; i < now->pending_count; i++) {
        if (strcmp(before->pending_sessions[i].name, now->pending_sessions[i].name) != 0) return false;
    }
    return true;
}

bool catalog_news_find(const struct catalog *before, const struct catalog *now, struct arena *arena,
                       struct catalog_news *news) {
    *news = (struct catalog_news){.pending_changed = !has_same_pending(before, now)};
    struct comparison sessions = {arena, news, false}, profiles = {arena, news, true};
    return compare(&sessions, (struct list){before->sessions, before->session_count},
                   (struct list){now->sessions, now->session_count}) &&
           compare(&profiles, (struct list){before->device_memory, before->device_memory_count},
                   (struct list){now->device_memory, now->device_memory_count});
}

bool catalog_news_any(const struct catalog_news *news) {
    return news->count > 0 || news->pending_changed;
}
