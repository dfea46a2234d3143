#include "server/store/resident_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include "analysis/base/text_scan.h"

struct resident_count resident_memory_open(void) {
    return (struct resident_count){open("/proc/self/statm", O_RDONLY | O_CLOEXEC)};
}

void resident_memory_close(const struct resident_count *count) {
    if (count->file >= 0) close(count->file);
}

// "size resident shared ...", in pages.
static struct resident_memory scan(struct bytes text) {
    int64_t size, resident, shared, page_bytes = sysconf(_SC_PAGESIZE);
    bool is_told = text_take_int64(&text, &size) && text_take(&text, BYTES(" ")) && text_take_int64(&text, &resident) &&
                   text_take(&text, BYTES(" ")) && text_take_int64(&text, &shared) && 0 <= shared && shared <= resident;
    if (!is_told) return (struct resident_memory){0};
    return (struct resident_memory){(size_t)(resident * page_bytes), (size_t)((resident - shared) * page_bytes)};
}

struct resident_memory resident_memory_read(const struct resident_count *count) {
    uint8_t text[256];
    ssize_t size = count ? pread(count->file, text, sizeof text, 0) : 0;
    return scan((struct bytes){text, size > 0 ? (size_t)size : 0});
}
