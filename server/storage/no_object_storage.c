// Stands in for the rest of this room where the program is built without libcurl (make STORAGE=no): no bucket opens.
#include "server/storage/object_storage.h"
#include "server/storage/storage_files.h"

struct object_storage *object_storage_open(const char *url, environment_reader *environment,
                                           const struct object_storage_limits *limits, struct error *error) {
    (void)environment, (void)limits;
    (void)error_in(error, ERROR_BAD_REQUEST, url, ERROR_WHOLE_FILE,
                   "this hbmview was built without libcurl and opens local files only; install libcurl4-openssl-dev "
                   "and libssl-dev and build it again, or copy the profile here");
    return NULL;
}

void object_storage_close(struct object_storage *storage) {
    (void)storage;
}

const struct storage *object_storage_of(const struct object_storage *storage) {
    (void)storage;
    return NULL;
}

struct http_traffic object_storage_traffic(const struct object_storage *storage) {
    (void)storage;
    return (struct http_traffic){0};
}

bool storage_files_list(environment_reader *environment, struct arena *arena, const char ***paths, size_t *count) {
    (void)environment, (void)arena, (void)paths, (void)count;
    return true;
}
