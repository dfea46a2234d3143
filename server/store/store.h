// What the log directory holds, as requests see it.
//
//     --logdir ──> catalog snapshot (rescanned when the list is asked for, or a session is not in it,
//                      │                 unless everything stood still since: stillness.h)
//                      └─> session ──> the names of its files, while its folder stays as it was scanned
//                                  └─> else its files, listed anew
//
// Snapshots are immutable and counted; a request pins the one it uses. Scans run one at a time; a request that waits
// for a scan which began after it asked takes that one, or its failure, and shows meanwhile what that reads.
// Without a log directory there is one session: the sample. Thread-safe.
#pragma once

#include "server/storage/http_client.h"
#include "server/storage/opened_storage.h"
#include "server/store/place.h"
#include "server/store/stillness.h"
#include "server/store/work.h"

#define STORE_SAMPLE_SESSION "sample"

struct store;

// `logdir`, a path or the URL of a bucket (NULL: the sample), is not looked at before the first request; it must
// outlive the store. NULL: no memory.
struct store *store_new(const char *logdir, const struct storage_settings *settings);

// Links may lead out of the log directory. Before the first request.
void store_follow_links(struct store *store);

// No request may run.
void store_free(struct store *store);

// The log directory as given; NULL for the sample.
const char *store_logdir(const struct store *store);

// What was asked of a bucket so far; nothing for files of this machine.
struct http_traffic store_bucket_traffic(const struct store *store);

// Where the log directory lies.
const struct storage *store_storage(const struct store *store);

// Whether what was found there is still so.
struct stillness *store_stillness(struct store *store);

// The sessions. With `rescan` as they are now (where the log directory stood still, without another scan), else as they
// were last seen. NULL: *error is filled.
MUST_USE const struct catalog *store_catalog(struct store *store, struct work *work, bool rescan, struct error *error);

// The same as they are now, and since when they stood still.
MUST_USE const struct catalog *store_catalog_now(struct store *store, struct work *work, struct stillness_mark *since,
                                                 struct error *error);

struct session {
    const char *name;
    struct file_version version;  // of its folder, now
    struct session_files files;   // what each of them is now: session_file
    bool is_listed_anew;          // for this work: each file is of the version that is there now
};

// The profile of that host; NULL: the session has none.
const struct input_file *session_host(const struct session *session, const char *host);

// How far to look for the files. A folder's version tells when a file comes or goes; where a file system does not keep
// it, a name that is not among those seen may still be there. Device memory profiles are listed anew: those in the
// session's folder, or the one outside any session that is called so; none is no error.
enum store_listing { STORE_LIST_SEEN, STORE_LIST_ANEW, STORE_LIST_NOTHING, STORE_LIST_DEVICE_MEMORY };

// Opens a session. What it holds stays until the work ends. ERROR_NOT_FOUND names the sessions there are;
// of a folder that could not be looked into nobody knows what it holds: ERROR_UNREADABLE.
MUST_USE bool store_open_session(struct store *store, struct work *work, const struct session_place *place,
                                 enum store_listing listing, struct session *session, struct error *error);

// The session names of a place without a name: what XProf's /runs answers. In reverse order. ERROR_UNREADABLE where
// none is to be seen and something could not be looked into.
MUST_USE bool store_session_names(struct store *store, struct work *work, const struct session_place *place,
                                  struct name_list *list, struct error *error);
