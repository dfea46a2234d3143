// A trend (server/trend/trend.h), as scripts, the page and terminals are told.
//
//     {"tool", "subject", "memory_space", "by", "complete", "sessions", "ready", "pending", "left_out",
//      "points": {"session": [...], "time_s": [...], "state": [...], "peak_bytes": [...], ...},   oldest first
//      "lines": {"key": ["train.py:53"], "bytes": [[0, 4838129664]], "rest_bytes": [...]},        sum: peak_bytes
//      "jump": {"before", "after", "peak_delta_bytes", "groups": {...}, "text"} or null,
//      "growth": {...},                                   where a limit is set
//      "names": [{"name", "sessions"}]}                   what else may be asked about
//
// Borrows everything; words come to lie on the caller's arena.
#pragma once

#include "server/text/json_writer.h"
#include "server/text/page.h"
#include "server/trend/trend_jump.h"

enum { TREND_LINES_DEFAULT = 8, TREND_LINES_MAX = 48 };

// By how much the newest point may have grown since the one before it.
struct trend_limit {
    enum { TREND_NO_LIMIT, TREND_LIMIT_BYTES, TREND_LIMIT_PERCENT } kind;
    int64_t bytes;
    double percent;
    bool is_of_total;  // else of the peak
};

struct trend_document {
    struct trend *trend;
    const struct trend_jump *jump;  // NULL: the peak never grew
    struct trend_limit limit;
    uint32_t line_count;  // at most so many lines
};

// The newest two points that are ready, and what the limit says of them.
struct trend_growth {
    uint32_t before, after;
    int64_t before_bytes, after_bytes, delta_bytes, limit_bytes;
    bool is_over;
};

// False: there are no two points, so nothing can be compared.
bool trend_growth_of(const struct trend_document *document, struct trend_growth *growth);

// "2026-11-03", or what else tells a point from the others. On `arena`.
const char *trend_point_words(const struct trend *trend, uint32_t at, struct arena *arena);

// "2026-11-03: +5.77 GiB (5.03 GiB -> 10.81 GiB), +4.51 GiB of it at train.py:53 (0 -> 24 buffers)". "" where there is
// no jump. On `arena`.
const char *trend_jump_text(const struct trend_document *document, struct arena *arena);

// Keys of an open object. False at the arena's limit.
MUST_USE bool trend_json_write(const struct trend_document *document, struct arena *arena, struct json_writer *w);

// A row for each point, or with `has_holders` one for each holder of each, of which those past `line_count` are one row
// "(left out)": they sum to the peak.
void trend_csv_write(const struct trend_document *document, bool has_holders, struct output *output);

void trend_text_write(const struct trend_document *document, struct page *page);

extern const char *const trend_tool_names[];   // by enum trend_tool
extern const char *const trend_state_names[];  // by enum trend_state
