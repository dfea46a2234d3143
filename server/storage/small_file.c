#include "server/storage/small_file.h"

#include "analysis/input/byte_source.h"
#include "analysis/input/local_storage.h"

bool small_file_read(const char *path, struct arena *arena, struct bytes *content, struct error *error) {
    struct byte_source *source = byte_source_open(local_storage(), path, error);
    uint64_t size;
    bool is_good = source && byte_source_size(source, &size, error) &&
                   byte_source_load(source, 0, size, SMALL_FILE_BYTES_MAX, arena, content, error);
    byte_source_close(source);
    return is_good;
}
