// A page of words and tables, as text for a terminal or as Markdown.
#pragma once

#include "server/command/report_sessions.h"
#include "server/text/table.h"

struct report_page {
    struct output *output;
    struct arena *arena;  // for shortened words
    bool is_markdown;
    bool has_begun;
    size_t width;  // of text
};

enum { REPORT_PAGE_WIDTH = 80 };

// In the format of the report; as wide as $COLUMNS, else as the terminal it goes to, else REPORT_PAGE_WIDTH.
struct report_page report_page_on(const struct report *report, struct output *output, struct arena *arena);

// Texts are printable (printable.h); they are wrapped, and a word wider than the page loses its middle. Each part is
// set apart from the one before by an empty line.
void report_page_heading(struct report_page *page, const char *text);
void report_page_paragraph(struct report_page *page, const char *text);
void report_page_table(struct report_page *page, const struct table *table);
void report_page_list(struct report_page *page, const char *const *items, size_t count);
