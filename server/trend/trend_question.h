// What a trend is asked about: which program or memory, and what is told of it in each session.
#pragma once

#include "analysis/groups/memory_grouping.h"

enum trend_tool {
    TREND_PROGRAM,        // a program of the Memory Viewer: what it needs
    TREND_PROFILE,        // a memory of the Memory Profile: what its allocator did
    TREND_DEVICE_MEMORY,  // device memory profiles: what Python's arrays hold, a point for each file
};

struct trend_question {
    enum trend_tool tool;
    const char *subject;  // a module's name, with or without its number; a memory id. NULL: the largest of the newest
    const char *host;     // that host alone; NULL: the one where it takes most
    int64_t space;        // of a program
    enum memory_group_by by;
    const char *frameworks;
    uint32_t last;                                         // so many of the newest sessions; 0: all
    int64_t patience_ms;                                   // tell what is known after so long; below zero: all there is
    void (*tell)(void *context, size_t done, size_t all);  // how far it is, from any thread; NULL: nobody asks
    void *context;
};
