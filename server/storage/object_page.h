// One page of what a bucket holds, as its server lists it, and the readers of the two forms that servers write.
//
//     S3     ListObjectsV2, XML      <Contents><Key>..</Key><Size>..<ETag>.., <NextContinuationToken>
//                                      <CommonPrefixes><Prefix>..
//     GCS    objects.list, JSON      {"items": [{"name", "size", "generation", "updated"}],
//                                      "prefixes": [".."], "nextPageToken"}
//
// Names are bytes and are used as what they are; a name that no file of a folder could have (an empty part, "." or
// "..", a NUL) is not on the page, but counted; so is an object whose version is no line of text. A page is bounded by
// the limit of its answer.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/input/file_version.h"

struct stored_object {
    const char *name;  // the whole key
    const char *pin;   // names this version of it: the ETag, the generation
    uint64_t size_bytes;
    int64_t modified_s;           // seconds since 1970; 0: not said
    struct file_version version;  // the same in the terms of files: equal in every run and on every machine
};

struct object_page {
    struct stored_object *objects;
    size_t object_count;
    struct stored_object *folders;  // where one level is asked for: "run/checkpoints/", of no size and no pin
    size_t folder_count;
    size_t odd_names;
    const char *next;  // what asks for the next page; NULL: this is the last one
};

// On `arena`. ERROR_MALFORMED with the byte of the answer, ERROR_TOO_BIG at the arena's limit.
MUST_USE bool object_page_of_s3(struct bytes answer, struct arena *arena, struct object_page *page,
                                struct error *error);
MUST_USE bool object_page_of_gcs(struct bytes answer, struct arena *arena, struct object_page *page,
                                 struct error *error);

// Adds an object. False at the arena's limit.
MUST_USE bool object_page_add(struct object_page *page, struct bytes name, const struct stored_object *object,
                              struct arena *arena);

// Adds a folder of the level, "run/checkpoints/". False at the arena's limit.
MUST_USE bool object_page_add_folder(struct object_page *page, struct bytes name, struct arena *arena);

// Keeps what asks for the page after this one, where there is one. ERROR_MALFORMED: no address could ask for it.
MUST_USE bool object_page_goes_on(struct object_page *page, struct bytes next, struct arena *arena,
                                  struct error *error);

// "2026-11-22T12:00:00Z", with or without a fraction: seconds since 1970. 0: it is no such time.
int64_t object_time(struct bytes text);

// "Sun, 22 Nov 2026 12:00:00 GMT", as HTTP writes it: the same.
int64_t object_http_date(const char *text);
