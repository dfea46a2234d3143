// The files inside the program: the page, and a sample profile for a run without --logdir.
//
// The table is made at build time (scripts/embed_assets.c) from the page that scripts/build-page.mjs puts together and
// from a test fixture, sorted by path. Everything is gzipped once, there; what a client without gzip wants must be
// inflated.
#pragma once

#include <stddef.h>

struct embedded_asset {
    const char *path;  // "index.html", "assets/main-2K7Q3ZPA.js", "sample/tpu-vm-0.xplane.pb"
    const char *content_type;
    const unsigned char *gzip;
    size_t gzip_size;
    size_t identity_size;  // of the inflated content
    const char *etag;      // with its quotes, of the content
};

extern const struct embedded_asset embedded_assets[];
extern const size_t embedded_asset_count;

// What a saved page is made of (server/saving/saved_page.h). Without data it says nothing: never served as a file.
#define EMBEDDED_SAVED_PAGE_PATH "saved.html"

// The sample profile is not part of the page: never served as a file.
#define EMBEDDED_SAMPLE_PATH "sample/tpu-vm-0.xplane.pb"
