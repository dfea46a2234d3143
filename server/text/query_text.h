// The query of an address, as text: names and values, percent-encoded.
#pragma once

#include "analysis/base/text_writer.h"

// What stands before the value ("?run=", "&host="), as it is, and the value encoded; slashes stay readable.
void query_put(struct text_writer *text, const char *before, const char *value);

// Decodes in place: "%20" and "+" are spaces. What is no code stays as it is.
char *query_decode(char *text);
