// How one kind of object server is asked: it writes questions and reads answers, and carries nothing itself.
//
//     s3_service    GET /bucket?list-type=2&prefix=...          GET /bucket/name    Range, If-Match: the ETag
//     gcs_service   GET /storage/v1/b/bucket/o?prefix=...       GET .../o/name?alt=media&generation=...    Range
//     web_service   (one object, whose address is given)        GET /path/name      Range, If-Match: the ETag
//
// A bucket is made once from what the user gave and the environment, and stays as it is. Every question but an
// anonymous one has a secret in its headers.
#pragma once

#include "analysis/base/error.h"
#include "server/storage/http_client.h"
#include "server/storage/object_page.h"

struct object_service;

struct object_bucket {
    const struct object_service *service;
    struct http_client *client;
    const char *name;           // of the bucket
    const char *origin;         // "https://bucket.s3.eu-west-1.amazonaws.com"
    const char *root_path;      // "" or "/bucket": what stands before a name
    const char *url;            // "s3://bucket", as users write it
    const char *region;         // S3's
    struct identity *identity;  // who asks; NULL: a web server
    struct web_object *web;     // the one object of a web server; NULL: a bucket
};

struct object_range {
    uint64_t offset;
    size_t size;
    uint8_t *to;
};

enum { OBJECT_PAGE_BYTES_MAX = 8 << 20, OBJECTS_OF_A_PAGE = 1000 };

struct page_wanted {
    const char *prefix;  // of the names on it
    const char *next;    // as the page before said; NULL: the first page
    bool is_level;       // of what lies deeper only the folders
};

struct object_service {
    const char *scheme;  // "s3"

    bool (*ask_page)(const struct object_bucket *bucket, const struct page_wanted *wanted, struct arena *arena,
                     struct http_question *question);
    bool (*read_page)(struct bytes answer, struct arena *arena, struct object_page *page, struct error *error);

    // Where there are no pages (NULL: there are): all that there is.
    bool (*list)(const struct object_bucket *bucket, struct reading *reading, struct arena *arena,
                 struct object_page *page, struct error *error);

    // The bytes [offset, offset + size) of this version of the object.
    bool (*ask_range)(const struct object_bucket *bucket, const struct stored_object *object, struct arena *arena,
                      struct http_question *question);

    // Whether the answer is of that version, where asking for it does not ensure so (NULL: it does).
    bool (*is_version)(const struct stored_object *object, const struct http_answer *answer);

    // Copies a range that is here already (NULL: none ever is).
    bool (*copy_kept)(const struct object_bucket *bucket, const struct stored_object *object,
                      const struct object_range *range);

    // Adds who asks, if it is anybody. False: *error says what of the credentials is wrong.
    bool (*sign)(const struct object_bucket *bucket, struct http_question *question, struct arena *arena,
                 struct error *error);

    // What a status that says no means for the user: who asked, for what, what to do.
    bool (*refused)(const struct object_bucket *bucket, const struct http_question *question,
                    const struct http_answer *answer, struct error *error);
};

// A page of names, on `arena`; for `reading`, or nobody (NULL).
MUST_USE bool object_list(const struct object_bucket *bucket, const struct page_wanted *wanted, struct reading *reading,
                          struct arena *arena, struct object_page *page, struct error *error);

// Parts of one object, all at once. What is read is of the version that `object` names, or it is ERROR_UNREADABLE.
MUST_USE bool object_read(const struct object_bucket *bucket, const struct stored_object *object,
                          const struct object_range *ranges, size_t count, struct reading *reading,
                          struct error *error);
