// What is new in a log directory since it was looked at before: one catalog compared with the next.
//
//     before: run1, run2, (run3 is being written)     now: run1 with one more host, run3, run4
//         run1 changed: 1 file more
//         run2 removed
//         run3, run4 added
//
// What is still being written is no news before it is complete; that it is being written is (`pending_changed`).
// Names are those of the catalogs, which outlive the news.
#pragma once

#include "analysis/input/catalog.h"

enum news_kind { NEWS_ADDED, NEWS_CHANGED, NEWS_REMOVED };

struct session_news {
    enum news_kind kind;
    const struct catalog_session *session;  // as it is now; of a removed one as it was
    bool is_device_memory;                  // one of catalog.device_memory
    // of a changed one, its profiles; device memory profiles in its folder are not counted
    size_t files_added, files_changed, files_removed;
};

struct catalog_news {
    struct session_news *items;
    size_t count;
    bool pending_changed;
};

// Into `arena`. False without memory.
MUST_USE bool catalog_news_find(const struct catalog *before, const struct catalog *now, struct arena *arena,
                                struct catalog_news *news);

// Whether there is any.
bool catalog_news_any(const struct catalog_news *news);
