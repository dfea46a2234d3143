#include "server/live/event_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/session_stamp.h"
#include "server/text/json_writer.h"

void catalog_version_text(uint64_t stamp, char text[CATALOG_VERSION_BYTES]) {
    snprintf(text, CATALOG_VERSION_BYTES, "%016" PRIx64, stamp);
}

static void write_version(struct json_writer *w, uint64_t stamp) {
    char version[CATALOG_VERSION_BYTES];
    catalog_version_text(stamp, version);
    json_write_text_key(w, "version", version);
}

static void write_head(struct output *output, uint64_t run, uint64_t number, const char *name) {
    char head[EVENT_ID_BYTES + 64];
    snprintf(head, sizeof head, "id: %" PRIx64 "-%" PRIu64 "\nevent: %s\ndata: ", run, number, name);
    output_put(output, head);
}

// --- News ---

static void write_changed(struct json_writer *w, const struct session_news *item) {
    json_write_int64_key(w, "files_added", (int64_t)item->files_added);
    json_write_int64_key(w, "files_changed", (int64_t)item->files_changed);
    json_write_int64_key(w, "files_removed", (int64_t)item->files_removed);
}

static void write_item(struct json_writer *w, const struct session_news *item) {
    json_open_object(w);
    json_write_text_key(w, "name", item->session->name);
    json_write_bool_key(w, "device_memory", item->is_device_memory);
    if (item->kind != NEWS_REMOVED) json_write_int64_key(w, "modified_s", item->session->version.modified_s);
    if (item->kind == NEWS_CHANGED) write_changed(w, item);
    json_close_object(w);
}

// Returns how many are left out.
static size_t write_kind(struct json_writer *w, const char *key, enum news_kind kind, const struct catalog_news *news) {
    size_t count = 0;
    json_open_array_key(w, key);
    for (size_t i = 0; i < news->count; i++) {
        if (news->items[i].kind == kind && count++ < EVENT_NAMES_MOST) write_item(w, &news->items[i]);
    }
    json_close_array(w);
    return count > EVENT_NAMES_MOST ? count - EVENT_NAMES_MOST : 0;
}

static size_t write_pending(struct json_writer *w, const struct catalog *now) {
    size_t shown = now->pending_count < EVENT_NAMES_MOST ? now->pending_count : EVENT_NAMES_MOST;
    json_open_array_key(w, "pending");
    for (size_t i = 0; i < shown; i++) json_write_text(w, now->pending_sessions[i].name);
    json_close_array(w);
    return now->pending_count - shown;
}

void event_write_news(struct output *output, uint64_t run, uint64_t number, const struct catalog *now,
                      const struct catalog_news *news) {
    write_head(output, run, number, "sessions");
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    write_version(&w, catalog_stamp(now));
    size_t more = write_kind(&w, "added", NEWS_ADDED, news);
    more += write_kind(&w, "changed", NEWS_CHANGED, news);
    more += write_kind(&w, "removed", NEWS_REMOVED, news);
    more += write_pending(&w, now);
    json_write_int64_key(&w, "more", (int64_t)more);
    json_close_object(&w);
    output_put(output, "\n\n");
}

// --- The beginning ---

void event_write_greeting(struct output *output, const struct event_greeting *greeting) {
    const char *name = greeting->is_reload ? "reload" : "hello";
    output_put(output, "retry: 2000\n");
    if (greeting->has_id) {
        write_head(output, greeting->run, greeting->number, name);
    } else {
        output_put(output, "event: ");
        output_put(output, name);
        output_put(output, "\ndata: ");
    }
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    write_version(&w, greeting->stamp);
    json_write_text_key(&w, "watching", greeting->way);
    json_write_int64_key(&w, "heartbeat_s", greeting->heartbeat_s);
    json_close_object(&w);
    output_put(output, "\n\n");
}

bool event_id_read(const char *id, uint64_t run, uint64_t *number) {
    char *end;
    errno = 0;
    uint64_t id_run = strtoull(id, &end, 16);
    if (errno || end == id || *end != '-' || id_run != run) return false;
    const char *digits = end + 1;
    *number = strtoull(digits, &end, 10);
    return !errno && *digits >= '0' && *digits <= '9' && !*end;
}
