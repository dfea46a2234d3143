// What changed between two programs (analysis/compare/memory_diff.h), as scripts, the page, terminals and pull requests
// are told.
//
//     {"a": {"session", "host", "module", "peak_bytes", "total_allocation_bytes"}, "b": {...},
//      "memory_space", "peak_delta_bytes", "total_delta_bytes",
//      "categories": {"rows": [{"key", "a_bytes", "b_bytes", "delta_bytes"}]},                       sum: the totals
//      "groups": {"by", "rows": [{"key", ..., "delta_bytes"}], "left_out", "left_out_delta_bytes"},    sum: the peaks
//      "buffers": {"rows": [{"change", "a": {...} or null, "b": ..., "delta_bytes"}], ...},            sum: the peaks
//      "other_programs": {"rows": [{"a": {"module", "peak_bytes", ...} or null, "b": ..., "peak_delta_bytes"}], ...},
//      "findings": [{"kind", "buffers", "bytes", "text"}]}
//
// Rows are what differs, the largest difference first; of the other programs that the two paths hold each is one. With
// "fragmentation_delta_bytes" the groups, and the buffers, sum to the difference of the totals. Borrows everything.
#pragma once

#include "analysis/compare/memory_diff.h"
#include "server/text/json_writer.h"
#include "server/text/page.h"

enum { DIFF_ALL = -1, DIFF_NO_LIMIT = -1 };

struct diff_program {
    const char *session, *host;
    struct bytes module;  // "jit_f(1)"
};

// A program that is not compared in detail, before and after.
struct diff_other {
    struct diff_figures {
        const char *module;  // NULL: there is none
        int64_t peak_bytes, total_bytes;
    } a, b;
    int64_t peak_delta_bytes, total_delta_bytes;
};

struct diff_others {
    struct diff_other *rows;  // the largest difference of the peaks first
    size_t count;
};

struct diff_document {
    const struct memory_diff *diff;
    struct diff_program a, b;
    const struct diff_others *others;  // NULL: nobody looked for them
    int64_t space;
    int top;              // rows of groups and of buffers; DIFF_ALL
    bool limits_total;    // the limit is about the total, else the peak
    int64_t limit_bytes;  // that it may grow by; DIFF_NO_LIMIT
};

// The difference of the figure that the limit is about.
int64_t diff_document_delta(const struct diff_document *document);

// Whether it grew by more than the limit.
bool diff_document_is_over(const struct diff_document *document);

// "+5.80 GiB", "-12.00 KiB", "0 B". On `arena`, "" at its limit.
const char *diff_size(int64_t delta_bytes, struct arena *arena);

// A fact that no row tells: a sentence, with its figures. False: there is none of that kind.
enum diff_finding { DIFF_OUTPUTS_BECAME_ALIASES, DIFF_ALIASES_BECAME_OUTPUTS, DIFF_FINDING_COUNT };
struct diff_finding_told {
    const char *kind;
    uint32_t buffers;
    int64_t bytes;
    const char *text;  // NULL at the arena's limit
};
bool diff_finding_tell(const struct memory_diff *diff, enum diff_finding finding, struct arena *arena,
                       struct diff_finding_told *told);

// Keys of an open object. Words come to lie on `arena`.
void diff_json_write(const struct diff_document *document, struct arena *arena, struct json_writer *w);

void diff_text_write(const struct diff_document *document, struct page *page);

// The difference of what the compilers reserve beyond the peaks: that of the totals without that of the peaks.
int64_t diff_fragmentation_delta(const struct memory_diff *diff);

// Its parts about buffers and about the other programs.
void diff_text_buffers_write(const struct memory_diff *diff, int top, struct page *page);
void diff_text_others_write(const struct diff_document *document, struct page *page);
