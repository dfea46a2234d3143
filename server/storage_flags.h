// How a bucket is read, as the user asked: the flags that the server and every command that opens profiles share.
#pragma once

#include "server/flags.h"
#include "server/storage/opened_storage.h"

#define STORAGE_FLAGS(settings)                                                                                        \
    {"storage_cache_mib", FLAG_NUMBER, .number = &(settings).cache_mib, .min = 1, .max = 1 << 20},                     \
        {"disk_cache", FLAG_PATH, .text = &(settings).disk_cache}, {                                                   \
        "disk_cache_mib", FLAG_NUMBER, .number = &(settings).disk_cache_mib, .min = 16, .max = 1 << 24                 \
    }

#define STORAGE_FLAGS_HELP                                                                                             \
    "  --storage_cache_mib N  keep what was read of a bucket in so much memory (64)\n"                                 \
    "  --disk_cache DIR       keep it in DIR too, for later runs, by version; not in\n"                                \
    "                         a log directory\n"                                                                       \
    "  --disk_cache_mib N     keep so much there; what is longest unused goes (1024)\n"
