// Any bytes as the compiler's memory-usage report, as a message and as text: reading ends, a refusal says why, and what
// is read can be compared with any program's totals.
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/memory/usage_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 64 << 20 };

typedef bool report_reader(struct bytes content, struct arena *arena, struct usage_report *report, struct error *error);

static void require(bool holds) {
    if (!holds) abort();
}

static void check(report_reader *read, struct bytes content) {
    struct usage_report report;
    struct error error = {.code = ERROR_NONE};
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    if (read(content, &arena, &report, &error)) {
        require(report.space_count <= content.size);
        const struct memory_totals nothing = {.space = 0};
        struct usage_comparison compared = usage_report_compare(&report, &nothing);
        require(compared.agrees == (compared.difference_bytes == 0));
    } else {
        require(error.code > ERROR_NONE && error.code < ERROR_CODE_COUNT && error.message[0]);
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(usage_report_of_proto, (struct bytes){data, size});
    check(usage_report_of_text, (struct bytes){data, size});
    return 0;
}
