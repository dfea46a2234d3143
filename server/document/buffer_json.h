// The document of /api/v1/buffer (docs/api.md): everything about one logical buffer, or about many of one view.
//
//     view ──> buffer_teller (names, origins, phases: read once) ──> a document each
#pragma once

#include "analysis/memory/buffer_description.h"
#include "server/document/buffer_origin_json.h"

struct buffer_share {  // two logical buffers that are one value in the same bytes
    uint32_t buffer, canonical;
};

struct buffer_teller {
    const struct memory_view *view;
    struct buffer_describer describer;
    struct buffer_origins origins;
    struct buffer_share *shares;
    uint32_t share_count;
    struct arena *arena;
};

// `view` is exact. All of it lives on `arena`. False: *error is filled.
MUST_USE bool buffer_teller_init(struct buffer_teller *teller, const struct memory_view *view, struct arena *arena,
                                 struct error *error);

// `buffer` is an index into the module's buffers; `row` its row in the view, NULL where the view does not show it.
MUST_USE bool buffer_json_write(struct buffer_teller *teller, uint32_t buffer, const struct memory_buffer *row,
                                struct json_writer *w, struct error *error);

// The row of the view that shows the buffer; NULL when none does.
const struct memory_buffer *buffer_row_of(const struct memory_view *view, uint32_t buffer);
