// A curve over program order in block characters, for a terminal.
//
//                          v 52.90 GiB
//     52.90 GiB |         .#:.
//               |     .:######.
//         0 B   |:##############:.
//
// Each column is one character with eight levels a line; the mark stands above the highest.
#pragma once

#include "server/text/page.h"

enum { PLOT_LINES = 6 };

// How many columns there are beside the labels.
size_t plot_columns(const struct page *page, const char *top_label);

// `values` are at least 0; `peak` is the column of the mark. The labels are printable.
void plot_write(struct page *page, const int64_t *values, size_t count, size_t peak, const char *top_label);
