#include "server/storage/object_page.h"

#include "analysis/base/growing_array.h"
#include "analysis/base/text_scan.h"
#include "server/storage/crypto.h"

// Whether the parts between the "/" could be names in a folder. One "/" at the end is what servers write for a folder.
static bool is_path(struct bytes name) {
    if (name.size == 0 || memchr(name.data, '\0', name.size)) return false;
    while (name.size > 0) {
        struct bytes part = text_take_until(&name, '/');
        if (part.size == 0 || bytes_equal(part, BYTES(".")) || bytes_equal(part, BYTES(".."))) return false;
        (void)text_take(&name, BYTES("/"));
    }
    return true;
}

static struct file_version version_of(struct bytes name, const struct stored_object *object) {
    return (struct file_version){.device = crypto_fingerprint(name),
                                 .inode = crypto_fingerprint(bytes_of(object->pin)),
                                 .size_bytes = object->size_bytes,
                                 .modified_s = object->modified_s};
}

bool object_page_add(struct object_page *page, struct bytes name, const struct stored_object *object,
                     struct arena *arena) {
    struct stored_object added = *object;
    if (bytes_ends_with(name, BYTES("/"))) return true;
    if (!is_path(name)) {
        page->odd_names++;
        return true;
    }
    added.name = arena_string(arena, name);
    added.version = version_of(name, object);
    return added.name && growing_array_add(arena, page->objects, page->object_count, added);
}

static int64_t days_since_1970(int64_t year, int64_t month, int64_t day) {
    int64_t y = month > 2 ? year : year - 1;
    int64_t century = y / 400, of_century = y - century * 400;
    int64_t of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return century * 146097 + of_century * 365 + of_century / 4 - of_century / 100 + of_year - 719468;
}

// Takes a number and what follows it. False: it is not so, or out of its range.
static bool take_part(struct bytes *text, const char *after, int64_t least, int64_t most, int64_t *value) {
    return text_take_int64(text, value) && *value >= least && *value <= most && text_take(text, bytes_of(after));
}

int64_t object_time(struct bytes text) {
    int64_t year, month, day, hour, minute, second;
    bool is_time = take_part(&text, "-", 1970, 9999, &year) && take_part(&text, "-", 1, 12, &month) &&
                   take_part(&text, "T", 1, 31, &day) && take_part(&text, ":", 0, 23, &hour) &&
                   take_part(&text, ":", 0, 59, &minute) && take_part(&text, "", 0, 60, &second);
    if (!is_time) return 0;
    return days_since_1970(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
}
