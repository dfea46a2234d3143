// Any bytes as a page of objects, from S3 and from GCS: reading ends, and what is on a page could lie in folders.
//
//     make fuzz T=server_listing
#include <stdlib.h>
#include <string.h>

#include "server/storage/object_page.h"
#include "server/storage/object_tree.h"
#include "server/storage/xml_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 256 << 20, PAGE_BYTES_MAX = 1 << 20 };

typedef bool page_reader(struct bytes answer, struct arena *arena, struct object_page *page, struct error *error);

static void require(bool holds) {
    if (!holds) abort();
}

static void check_part(const char *part, size_t size) {
    require(size > 0 && !(size == 1 && part[0] == '.') && !(size == 2 && memcmp(part, "..", 2) == 0));
}

static void check_object(const struct stored_object *object) {
    const char *part = object->name;
    for (const char *slash; (slash = strchr(part, '/')); part = slash + 1) check_part(part, (size_t)(slash - part));
    check_part(part, strlen(part));
    for (const char *c = object->pin; *c; c++) require((uint8_t)*c >= ' ' && *c != 0x7f);
    require(object->size_bytes <= INT64_MAX && object->version.size_bytes == object->size_bytes);
    require(object->modified_s >= 0);
}

static void check_folder(const struct stored_object *folder) {
    const char *part = folder->name;
    for (const char *slash; (slash = strchr(part, '/')); part = slash + 1) check_part(part, (size_t)(slash - part));
    require(part > folder->name && !*part && !*folder->pin);
}

// Every object is found by its name, and its folder lists it.
static void check_tree(struct object_tree *tree, struct arena *arena) {
    object_tree_sort(tree);
    for (size_t i = 0; i < tree->object_count; i++) {
        struct storage_entry entry;
        const struct stored_object *object = &tree->objects[i];
        require(i == 0 || strcmp(tree->objects[i - 1].name, object->name) < 0);
        require(object_tree_find(tree, object->name) == object);
        require(object_tree_look(tree, object->name, &entry) && entry.kind == ENTRY_FILE);
    }
    struct folder root;
    require(!object_tree_list(tree, "", SIZE_MAX, arena, &root) || (root.entry_count > 0) == (tree->object_count > 0));
}

static void check_page(page_reader *read, struct bytes answer) {
    struct arena arena;
    struct object_page page;
    struct error error;
    arena_init(&arena, ARENA_BYTES);
    if (read(answer, &arena, &page, &error)) {
        require(page.object_count + page.folder_count + page.odd_names <= answer.size);
        require(!page.next || *page.next);
        for (size_t i = 0; i < page.object_count; i++) check_object(&page.objects[i]);
        for (size_t i = 0; i < page.folder_count; i++) check_folder(&page.folders[i]);
        check_tree(&(struct object_tree){.prefix = "", .objects = page.objects, .object_count = page.object_count},
                   &arena);
    } else {
        require(error.code == ERROR_MALFORMED || error.code == ERROR_TOO_BIG);
        require(error.message[0] && error.offset <= (int64_t)answer.size);
    }
    arena_free(&arena);
}

// Views lie in the document, each part is behind the one before, and an element that closes itself closes once.
static void check_scan(struct bytes document) {
    struct xml_scan scan = xml_scan_of(document);
    size_t before = 0;
    for (enum xml_part part; (part = xml_next(&scan)) != XML_END && part != XML_FAULT; before = scan.at) {
        struct bytes view = part == XML_TEXT ? scan.text : scan.name;
        require(view.size > 0 && view.data >= document.data && view.data + view.size <= document.data + document.size);
        require(scan.at <= document.size && (scan.at > before || part == XML_CLOSE));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes answer = {data, size};
    if (size > PAGE_BYTES_MAX) return 0;
    check_scan(answer);
    check_page(object_page_of_s3, answer);
    check_page(object_page_of_gcs, answer);
    return 0;
}
