#include "server/storage/prefix_list.h"

#include "analysis/base/growing_array.h"

enum { PAGES_MAX_AT_FIRST = 256, PAGE_OBJECTS_MIN = 64 };  // what servers send is nearer to a thousand a page

struct walk {
    const struct object_bucket *bucket;
    struct reading *reading;
    struct arena *arena;
    struct page_wanted wanted;  // the page that comes next
    struct object_tree tree;
    size_t pages, folders;
    bool is_over;
};

static struct walk begin(const struct object_bucket *bucket, const char *prefix, enum tree_extent extent,
                         struct reading *reading, struct arena *arena) {
    return (struct walk){.bucket = bucket,
                         .reading = reading,
                         .arena = arena,
                         .wanted = {.prefix = prefix, .is_level = extent == TREE_LEVEL},
                         .tree = {.prefix = prefix, .extent = extent}};
}

static bool too_many(const struct walk *walk, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, walk->bucket->url, ERROR_WHOLE_FILE,
                    "more than %d objects are below \"%.200s\"; open a folder further down", LISTING_OBJECTS_MAX,
                    walk->wanted.prefix);
}

static bool add(struct walk *walk, const struct stored_object *object) {
    return growing_array_add(walk->arena, walk->tree.objects, walk->tree.object_count, *object);
}

static bool add_page(struct walk *walk, const struct object_page *page) {
    walk->tree.odd_names += page->odd_names;
    walk->folders += page->folder_count;
    for (size_t i = 0; i < page->object_count; i++) {
        if (!add(walk, &page->objects[i])) return false;
    }
    for (size_t i = 0; i < page->folder_count; i++) {
        if (!add(walk, &page->folders[i])) return false;
    }
    return walk->tree.object_count <= LISTING_OBJECTS_MAX;
}

// Whether a list could go on without end: the page that comes next was there already, or pages hold next to nothing.
static bool is_endless(const struct walk *walk, const char *next, struct error *error) {
    const char *url = walk->bucket->url, *now = walk->wanted.next;
    if (now && next && strcmp(now, next) == 0)
        return !error_in(error, ERROR_MALFORMED, url, ERROR_WHOLE_FILE, "its list names the same page as the next one");
    size_t most = PAGES_MAX_AT_FIRST + walk->tree.object_count / PAGE_OBJECTS_MIN;
    return walk->pages > most && !error_in(error, ERROR_MALFORMED, url, ERROR_WHOLE_FILE,
                                           "its list does not end: %zu pages hold no more than %zu objects",
                                           walk->pages, walk->tree.object_count);
}

// Goes on until the list is over, or has had that many pages.
static bool go_on(struct walk *walk, size_t most_pages, struct error *error) {
    while (!walk->is_over && walk->pages < most_pages) {
        struct object_page page;
        if (!object_list(walk->bucket, &walk->wanted, walk->reading, walk->arena, &page, error)) return false;
        if (!add_page(walk, &page)) return too_many(walk, error);
        walk->pages++;
        if (is_endless(walk, page.next, error)) return false;
        reading_lists(walk->reading, walk->tree.object_count);
        walk->wanted.next = page.next;
        walk->is_over = !page.next;
    }
    return true;
}

static bool take(const struct walk *walk, struct object_tree *tree) {
    *tree = walk->tree;
    object_tree_sort(tree);
    return true;
}

// Takes the level into *tree if it is worth its while.
static bool try_level(struct walk *level, struct object_tree *tree, bool *is_taken, struct error *error) {
    if (!go_on(level, LISTING_PAGES_AT_FIRST, error)) return false;
    const char *profiles = arena_printf(level->arena, "%splugins/", level->wanted.prefix);
    if (!profiles) return too_many(level, error);
    *is_taken = false;
    if (!level->is_over || level->folders > LEVEL_FOLDERS_MAX) return true;
    for (size_t i = 0; i < level->tree.object_count; i++)
        *is_taken |= strcmp(level->tree.objects[i].name, profiles) == 0;
    return !*is_taken || take(level, tree);
}

static bool is_folder(const char *prefix) {
    return !*prefix || bytes_ends_with(bytes_of(prefix), BYTES("/"));
}

bool prefix_list(const struct object_bucket *bucket, const struct prefix_wish *wish, const struct object_tree *before,
                 struct reading *reading, struct arena *arena, struct object_tree *tree, struct error *error) {
    struct walk all = begin(bucket, wish->prefix, TREE_ALL, reading, arena);
    struct walk level = begin(bucket, wish->prefix, TREE_LEVEL, reading, arena);
    bool is_taken = false, was_level = before && before->extent == TREE_LEVEL;
    if (was_level && !try_level(&level, tree, &is_taken, error)) return false;
    if (is_taken) return true;
    if (!go_on(&all, LISTING_PAGES_AT_FIRST, error)) return false;
    bool may_be_level = !all.is_over && !was_level && is_folder(wish->prefix) &&
                        !(before && before->extent == TREE_ALL);
    if (may_be_level && !try_level(&level, tree, &is_taken, error)) return false;
    if (is_taken) return true;
    if (wish->is_aside && !all.is_over) {
        *tree = (struct object_tree){.prefix = wish->prefix, .extent = TREE_VAST};
        return true;
    }
    return go_on(&all, SIZE_MAX, error) && take(&all, tree);
}
