// Hears from the system when something changes in a folder of this machine, or in one below it: no folder is read again
// and again to find out.
//
//     the folder and those below it ──> one inotify descriptor, readable when a file or folder came, went or was
//                                       closed after writing
//
// Says that something may have changed, never what: whoever hears of it looks (catalog.h). A single file is heard of
// through its folder. Not everywhere: a network file system does not tell what another machine writes, there may be
// more folders than FOLDER_WATCH_MOST or than the system lets one watch, and other systems have no inotify; then
// folder_watch_begin is false, and one has to look again and again. Links are not followed: what lies below the folder
// is watched where it is.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { FOLDER_WATCH_MOST = 16384 };

// What is heard of a file: that it came, went or was closed after writing; or also each write, and each change of its
// times and permissions.
enum folder_hearing { FOLDER_HEAR_FILES, FOLDER_HEAR_ALL };

struct folder_watch {
    const char *path;  // borrowed
    enum folder_hearing hearing;
    int descriptor;  // to poll(2) for reading
    size_t folders;  // that are watched
};

// False: nothing is to be given back.
bool folder_watch_begin(struct folder_watch *watch, const char *path, enum folder_hearing hearing);
void folder_watch_end(struct folder_watch *watch);

// Whether there is something to hear. Waits for nothing, and takes nothing.
bool folder_watch_has_news(const struct folder_watch *watch);

// Takes what there is to hear; whoever looks afterwards misses nothing of new folders either. False: there is more than
// can be watched now, or the folder itself has gone; end it.
bool folder_watch_hear(struct folder_watch *watch);
