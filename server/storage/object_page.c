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

// A pin travels in a header or an address of later requests.
static bool is_one_line(const char *text) {
    for (; *text; text++) {
        if ((uint8_t)*text < ' ' || *text == 0x7f) return false;
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
    if (!is_path(name) || !is_one_line(object->pin)) {
        page->odd_names++;
        return true;
    }
    added.name = arena_string(arena, name);
    added.version = version_of(name, object);
    return added.name && growing_array_add(arena, page->objects, page->object_count, added);
}

bool object_page_add_folder(struct object_page *page, struct bytes name, struct arena *arena) {
    struct stored_object folder = {.pin = ""};
    if (!bytes_ends_with(name, BYTES("/")) || !is_path(name)) {
        page->odd_names++;
        return true;
    }
    folder.name = arena_string(arena, name);
    folder.version = version_of(name, &folder);
    return folder.name && growing_array_add(arena, page->folders, page->folder_count, folder);
}

bool object_page_goes_on(struct object_page *page, struct bytes next, struct arena *arena, struct error *error) {
    if (!next.size) return true;
    if (memchr(next.data, '\0', next.size))
        return error_set(error, ERROR_MALFORMED, "a list of objects names its next page by a text with a zero in it");
    page->next = arena_string(arena, next);
    return page->next || error_set(error, ERROR_TOO_BIG, "no memory left for a list of objects");
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

// "12:00:00": seconds of the day.
static bool take_clock(struct bytes *text, int64_t *seconds) {
    int64_t hour, minute, second;
    bool is_clock = take_part(text, ":", 0, 23, &hour) && take_part(text, ":", 0, 59, &minute) &&
                    take_part(text, "", 0, 60, &second);
    if (is_clock) *seconds = hour * 3600 + minute * 60 + second;
    return is_clock;
}

int64_t object_time(struct bytes text) {
    int64_t year, month, day, seconds;
    bool is_time = take_part(&text, "-", 1970, 9999, &year) && take_part(&text, "-", 1, 12, &month) &&
                   take_part(&text, "T", 1, 31, &day) && take_clock(&text, &seconds);
    return is_time ? days_since_1970(year, month, day) * 86400 + seconds : 0;
}

static bool take_month(struct bytes *text, int64_t *month) {
    static const char *const names[] = {"Jan ", "Feb ", "Mar ", "Apr ", "May ", "Jun ",
                                        "Jul ", "Aug ", "Sep ", "Oct ", "Nov ", "Dec "};
    for (*month = 1; *month <= 12; ++*month) {
        if (text_take(text, bytes_of(names[*month - 1]))) return true;
    }
    return false;
}

int64_t object_http_date(const char *date) {
    struct bytes text = bytes_of(date);
    int64_t year, month, day, seconds;
    (void)text_take_until(&text, ',');
    bool is_date = text_take(&text, BYTES(", ")) && take_part(&text, " ", 1, 31, &day) && take_month(&text, &month) &&
                   take_part(&text, " ", 1970, 9999, &year) && take_clock(&text, &seconds);
    return is_date ? days_since_1970(year, month, day) * 86400 + seconds : 0;
}
