#include "server/document/profile_columns_json.h"

#include <math.h>

#include "analysis/profile/questions/largest_free.h"

void profile_found_write(const struct session *session, const struct profile_found *found, struct json_writer *w) {
    json_write_text_key(w, "session", session->name);
    json_write_text_key(w, "host", found->file->host);
    json_write_string_key(w, "memory_id", found->timeline->memory_id);
}

void fragmentation_write_key(struct json_writer *w, const char *key, double fragmentation) {
    json_key(w, key);
    json_write_double(w, fragmentation);
}

void fragmentation_write_short(struct json_writer *w, double fragmentation) {
    json_write_double(w, round(fragmentation * 1e6) / 1e6);
}

void bytes_write_if(struct json_writer *w, bool is_known, int64_t bytes) {
    if (is_known)
        json_write_int64(w, bytes);
    else
        json_write_null(w);
}

void bytes_write_key_if(struct json_writer *w, const char *key, bool is_known, int64_t bytes) {
    json_key(w, key);
    bytes_write_if(w, is_known, bytes);
}

void largest_free_write_key(struct json_writer *w, const char *key, int64_t bytes) {
    bytes_write_key_if(w, key, bytes != LARGEST_FREE_UNKNOWN, bytes);
}
