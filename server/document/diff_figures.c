#include <inttypes.h>

#include "analysis/base/clamped.h"
#include "analysis/base/size_text.h"
#include "server/document/diff_document.h"

int64_t diff_document_delta(const struct diff_document *document) {
    return document->limits_total ? document->diff->total_delta_bytes : document->diff->peak_delta_bytes;
}

bool diff_document_is_over(const struct diff_document *document) {
    return document->limit_bytes != DIFF_NO_LIMIT && diff_document_delta(document) > document->limit_bytes;
}

int64_t diff_fragmentation_delta(const struct memory_diff *diff) {
    return clamped_subtract(diff->total_delta_bytes, diff->peak_delta_bytes);
}

const char *diff_size(int64_t delta_bytes, struct arena *arena) {
    const char *size = size_string(delta_bytes, arena);
    const char *text = delta_bytes > 0 ? arena_printf(arena, "+%s", size) : size;
    return text ? text : "";
}

bool diff_finding_tell(const struct memory_diff *diff, enum diff_finding finding, struct arena *arena,
                       struct diff_finding_told *told) {
    const struct buffer_changes *changes = &diff->buffers;
    bool is_forward = finding == DIFF_OUTPUTS_BECAME_ALIASES;
    told->kind = is_forward ? "outputs_became_aliases" : "aliases_became_outputs";
    told->buffers = is_forward ? changes->aliased_count : changes->unaliased_count;
    told->bytes = is_forward ? changes->aliased_bytes : changes->unaliased_bytes;
    const char *size = size_exact_string(told->bytes, arena);
    bool is_one = told->buffers == 1;
    told->text = is_forward
                     ? arena_printf(arena,
                                    "%" PRIu32 " output%s of %s became alias%s: %s written into donated arguments, and "
                                    "%s no bytes of %s own.",
                                    told->buffers, is_one ? "" : "s", size, is_one ? "" : "es",
                                    is_one ? "it is" : "they are", is_one ? "takes" : "take", is_one ? "its" : "their")
                     : arena_printf(
                           arena, "%" PRIu32 " output%s of %s no longer alias%s donated arguments: %s bytes of %s own.",
                           told->buffers, is_one ? "" : "s", size, is_one ? "es" : "",
                           is_one ? "it takes" : "they take", is_one ? "its" : "their");
    return told->buffers > 0;
}
