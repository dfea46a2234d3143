#include "server/store/resident_memory.h"

#include <stdio.h>
#include <unistd.h>

struct resident_memory resident_memory_read(void) {
    struct resident_memory memory = {0};
    size_t pages = 0, of_files = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file) return memory;
    if (fscanf(file, "%*s %zu %zu", &pages, &of_files) == 2 && of_files <= pages) {
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        memory = (struct resident_memory){pages * page_bytes, (pages - of_files) * page_bytes};
    }
    fclose(file);
    return memory;
}
