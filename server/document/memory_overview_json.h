// The document of /api/v1/memory_view/overview (docs/api.md): what the page paints before the columns are there.
//
//     view (500,000 rows, 10^6 steps)  ──>  totals, notes
//                                           the curve in as many columns as pixels
//                                           the largest rows at the peak, and how many are not among them
//
// At most OVERVIEW_BYTES_MAX gzipped, whatever the program: rows end where their texts would be too long together, and
// what is left out is counted.
#pragma once

#include "server/document/memory_view_document.h"

enum {
    OVERVIEW_COLUMNS_MAX = 1024,     // pixel columns of the curve
    OVERVIEW_ROWS_MAX = 256,         // buffers
    OVERVIEW_LONGEST_TEXT = 200,     // bytes of one text; a longer one is cut
    OVERVIEW_TEXT_BYTES = 40 << 10,  // of all texts together
    OVERVIEW_BYTES_MAX = 100000,
};

// False when `scratch` is at its limit.
MUST_USE bool memory_overview_json_write(const struct memory_view_document *document, uint32_t columns,
                                         struct arena *scratch, struct json_writer *w, struct error *error);
