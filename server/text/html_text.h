// Text into HTML: the one place that escapes it. Constant markup goes by output_put.
#pragma once

#include "server/text/output.h"

void html_put_text(struct output *output, struct bytes text);  // escaped; what is not UTF-8 becomes U+FFFD

// Markup by printf's rules, for numbers and constants only; at most 1023 bytes.
__attribute__((format(printf, 2, 3))) void html_put_format(struct output *output, const char *format, ...);
