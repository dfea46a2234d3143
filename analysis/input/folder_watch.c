#include "analysis/input/folder_watch.h"

#include "analysis/input/catalog.h"
#include "analysis/input/local_storage.h"

#ifdef __linux__

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    HEARD = IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF,
    HEARD_TOO = IN_MODIFY | IN_ATTRIB,
    SELF_WENT = IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT,
    EVENTS_BYTES = 16 << 10,
};

// File systems that other machines write to, as linux/magic.h and their own sources number them.
static bool is_of_network(const char *path) {
    static const unsigned long known[] = {
        0x6969,      // NFS
        0x517B,      // SMB
        0xFE534D42,  // SMB2
        0xFF534D42,  // CIFS
        0x65735546,  // FUSE: a bucket that is mounted
        0x0BD00BD0,  // Lustre
        0x00C36400,  // Ceph
        0x47504653,  // GPFS
        0x19830326,  // BeeGFS
        0x01021997,  // 9P
        0x5346414F,  // AFS
        0x6B414653,  // the kernel's AFS
    };
    struct statfs status;
    if (statfs(path, &status) != 0) return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (((unsigned long)status.f_type & 0xFFFFFFFFUL) == known[i]) return true;
    }
    return false;
}

// To watch what is watched already changes nothing. A folder that has gone by now, or may not be read, is no reason to
// give up.
static bool add_folder(struct folder_watch *watch, const char *path) {
    if (watch->folders == FOLDER_WATCH_MOST) return false;
    watch->folders++;
    uint32_t heard = watch->hearing == FOLDER_HEAR_ALL ? HEARD | HEARD_TOO : HEARD;
    return inotify_add_watch(watch->descriptor, path, heard | IN_ONLYDIR | IN_DONT_FOLLOW) >= 0 ||
           (errno != ENOSPC && errno != ENOMEM);
}

static bool add_below(struct folder_watch *watch, const char *path, unsigned depth);

static bool add_folders_of(struct folder_watch *watch, const char *path, unsigned depth, struct arena *arena) {
    struct folder folder;
    struct error ignored;
    if (!storage_list(local_storage(), path, SESSION_FILES_MAX_ENTRIES, arena, &folder, &ignored)) return true;
    for (size_t i = 0; i < folder.entry_count; i++) {
        if (folder.entries[i].kind != ENTRY_FOLDER) continue;
        const char *below = folder_join(arena, path, folder.entries[i].name);
        if (!below || !add_folder(watch, below) || !add_below(watch, below, depth + 1)) return false;
    }
    return true;
}

static bool add_below(struct folder_watch *watch, const char *path, unsigned depth) {
    struct arena scratch;
    if (depth == CATALOG_MAX_DEPTH) return true;
    arena_init(&scratch, 0);
    bool ok = add_folders_of(watch, path, depth, &scratch);
    arena_free(&scratch);
    return ok;
}

static bool watch_root(struct folder_watch *watch, struct arena *scratch) {
    struct storage_entry entry;
    struct error ignored;
    if (!storage_look(local_storage(), watch->path, STORAGE_FOLLOW_LINKS, &entry, &ignored)) return false;
    bool is_folder = entry.kind == ENTRY_FOLDER;
    const char *name = folder_last_name(watch->path);
    const char *root = is_folder ? arena_printf(scratch, "%s/.", watch->path)  // also when it is a link
                                 : arena_printf(scratch, "%.*s.", (int)(name - watch->path), watch->path);
    watch->folders = 0;
    if (!root || is_of_network(root) || !add_folder(watch, root)) return false;
    return !is_folder || add_below(watch, root, 0);
}

static bool watch_all(struct folder_watch *watch) {
    struct arena scratch;
    arena_init(&scratch, 0);
    bool ok = watch_root(watch, &scratch);
    arena_free(&scratch);
    return ok;
}

bool folder_watch_begin(struct folder_watch *watch, const char *path, enum folder_hearing hearing) {
    *watch = (struct folder_watch){
        .path = path, .hearing = hearing, .descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (watch->descriptor < 0) return false;
    if (watch_all(watch)) return true;
    folder_watch_end(watch);
    return false;
}

void folder_watch_end(struct folder_watch *watch) {
    close(watch->descriptor);
}

bool folder_watch_has_news(const struct folder_watch *watch) {
    struct pollfd asked = {.fd = watch->descriptor, .events = POLLIN};
    return poll(&asked, 1, 0) != 0;
}

// What was told at once: all that the kernel had to say, or'ed.
static uint32_t read_masks(int descriptor) {
    _Alignas(struct inotify_event) char events[EVENTS_BYTES];
    uint32_t masks = 0;
    ssize_t got;
    while ((got = read(descriptor, events, sizeof events)) > 0) {
        for (size_t at = 0; at + sizeof(struct inotify_event) <= (size_t)got;) {
            struct inotify_event event;
            memcpy(&event, events + at, sizeof event);
            masks |= event.mask;
            at += sizeof event + event.len;
        }
    }
    return masks;
}

bool folder_watch_hear(struct folder_watch *watch) {
    uint32_t masks = read_masks(watch->descriptor);
    bool has_new_folders = (masks & IN_ISDIR) && (masks & (IN_CREATE | IN_MOVED_TO | IN_ATTRIB));  // or readable ones
    return !(has_new_folders || (masks & (SELF_WENT | IN_Q_OVERFLOW))) || watch_all(watch);
}

#else

bool folder_watch_begin(struct folder_watch *watch, const char *path, enum folder_hearing hearing) {
    *watch = (struct folder_watch){.path = path, .hearing = hearing, .descriptor = -1};
    return false;
}

void folder_watch_end(struct folder_watch *watch) {
    (void)watch;
}

bool folder_watch_has_news(const struct folder_watch *watch) {
    (void)watch;
    return true;
}

bool folder_watch_hear(struct folder_watch *watch) {
    (void)watch;
    return false;
}

#endif
