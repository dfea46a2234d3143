// How far a check of the advice against the compiler is, as `hbmview advise --check --page=URL` sends it.
//
//     {"state": "running", "asked": "changes", "target": "v5e:2x2", "compiler": "jax 0.10.2, libtpu 0.0.52",
//      "total": 5, "compiled": 1, "compiling": "donate the inputs", "reason": null,
//      "rows": [{"id": "as_it_is", "name": "as it is", "predicted_total_bytes": 107134976, "low_bytes": null,
//                "high_bytes": null, "compiled_total_bytes": 107134976, "is_inside": null, "status": "compiled",
//                "reason": null, "seconds": 8.1}]}
//
// Exactly these members, each of its kind and within its limits; anything else is refused, with the member's name. It
// is the sender's word: every text is shown as text, and no figure is used for anything.
#pragma once

#include "analysis/base/error.h"
#include "server/text/output.h"

enum { CHECK_ROWS_MAX = 100 };

// Reads `body` and writes it again into `members`, without the braces around it (json_write_members).
// ERROR_BAD_REQUEST for what it may not be.
MUST_USE bool check_progress_read(struct bytes body, struct output *members, size_t *row_count, struct error *error);
