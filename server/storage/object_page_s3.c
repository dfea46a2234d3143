#include "analysis/base/growing_array.h"
#include "analysis/base/text_scan.h"
#include "server/storage/object_page.h"
#include "server/storage/url_text.h"
#include "server/storage/xml_scan.h"

// The texts of one <Contents>, or the name of one <CommonPrefixes>, as they stand.
struct entry {
    bool is_folder;
    struct bytes name, size, pin, modified;
};

struct listing {
    struct xml_scan scan;
    struct arena *arena;
    struct entry *entries;
    size_t entry_count;
    struct bytes next, encoding;
    bool has_failed;  // no memory left
};

static bool is_malformed(const struct listing *listing, const char *expected, struct error *error) {
    return error_at(error, ERROR_MALFORMED, (int64_t)listing->scan.at, "expected %s in a list of objects", expected);
}

static bool is_too_big(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "no memory left for a list of objects");
}

// Where the text of the element goes, if it is one that is asked for. `entry` is the object around it, or NULL.
static struct bytes *place_of(struct listing *listing, struct entry *entry, struct bytes element) {
    if (entry && entry->is_folder) return bytes_equal(element, BYTES("Prefix")) ? &entry->name : NULL;
    if (bytes_equal(element, BYTES("NextContinuationToken"))) return &listing->next;
    if (bytes_equal(element, BYTES("EncodingType"))) return &listing->encoding;
    if (!entry) return NULL;
    if (bytes_equal(element, BYTES("Key"))) return &entry->name;
    if (bytes_equal(element, BYTES("Size"))) return &entry->size;
    if (bytes_equal(element, BYTES("ETag"))) return &entry->pin;
    return bytes_equal(element, BYTES("LastModified")) ? &entry->modified : NULL;
}

enum { DEPTH_OF_LIST = 1, DEPTH_OF_OBJECTS, DEPTH_OF_FIELDS };

static struct entry *begin_entry(struct listing *listing, struct bytes element) {
    struct entry entry = {.is_folder = bytes_equal(element, BYTES("CommonPrefixes"))};
    if (!entry.is_folder && !bytes_equal(element, BYTES("Contents"))) return NULL;
    if (!growing_array_add(listing->arena, listing->entries, listing->entry_count, entry)) {
        listing->has_failed = true;
        return NULL;
    }
    return &listing->entries[listing->entry_count - 1];
}

// What the walk is inside of.
struct inside {
    unsigned depth;
    bool is_list;
    struct entry *entry;
    struct bytes *place;
};

static void go_in(struct listing *listing, struct inside *inside) {
    struct bytes element = listing->scan.name;
    inside->depth++;
    inside->place = NULL;
    if (inside->depth == DEPTH_OF_LIST) inside->is_list = bytes_equal(element, BYTES("ListBucketResult"));
    if (inside->depth == DEPTH_OF_OBJECTS) inside->entry = begin_entry(listing, element);
    bool is_field = inside->depth == (inside->entry ? DEPTH_OF_FIELDS : DEPTH_OF_OBJECTS);
    if (is_field) inside->place = place_of(listing, inside->entry, element);
}

static void go_out(struct inside *inside) {
    if (inside->depth == DEPTH_OF_OBJECTS) inside->entry = NULL;
    inside->place = NULL;
    inside->depth--;
}

static bool walk(struct listing *listing, struct error *error) {
    struct inside inside = {.depth = 0};
    for (;;) {
        enum xml_part part = xml_next(&listing->scan);
        if (listing->has_failed) return is_too_big(error);
        if (part == XML_END) break;
        if (part == XML_FAULT || (part == XML_CLOSE && inside.depth == 0))
            return is_malformed(listing, "XML without a document type", error);
        if (part == XML_OPEN) go_in(listing, &inside);
        if (part == XML_OPEN && !inside.is_list) return is_malformed(listing, "<ListBucketResult>", error);
        if (part == XML_CLOSE) go_out(&inside);
        if (part == XML_TEXT && inside.place) *inside.place = xml_text(listing->scan.text, listing->arena);
        if (part == XML_TEXT && inside.place && !inside.place->data) return is_too_big(error);
    }
    return (inside.is_list && inside.depth == 0) || is_malformed(listing, "the list's end", error);
}

static bool add_entry(const struct listing *listing, const struct entry *entry, struct object_page *page,
                      struct error *error) {
    struct bytes name = entry->name, size = entry->size;
    struct stored_object object = {.pin = arena_string(listing->arena, entry->pin),
                                   .modified_s = object_time(entry->modified)};
    int64_t size_bytes;
    if (bytes_equal(listing->encoding, BYTES("url"))) name = url_unescape_form(name, listing->arena);
    if (!object.pin || (entry->name.size && !name.data)) return is_too_big(error);
    if (entry->is_folder) return object_page_add_folder(page, name, listing->arena) || is_too_big(error);
    if (!text_take_int64(&size, &size_bytes) || size_bytes < 0 || size.size)
        return is_malformed(listing, "a size for each object", error);
    object.size_bytes = (uint64_t)size_bytes;
    return object_page_add(page, name, &object, listing->arena) || is_too_big(error);
}

bool object_page_of_s3(struct bytes answer, struct arena *arena, struct object_page *page, struct error *error) {
    struct listing listing = {.scan = xml_scan_of(answer), .arena = arena};
    *page = (struct object_page){0};
    if (!walk(&listing, error)) return false;
    for (size_t i = 0; i < listing.entry_count; i++) {
        if (!add_entry(&listing, &listing.entries[i], page, error)) return false;
    }
    return object_page_goes_on(page, listing.next, arena, error);
}
