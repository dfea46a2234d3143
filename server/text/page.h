// A page of words and tables, as text for a terminal or as Markdown.
//
//     heading      jit_f(1), HBM
//
//     paragraph    Peak 52.93 GiB at step 1204 of 2310 (fusion.3), of it
//                  1.20 GiB padding.
//     list         - XProf shows ...
//
// Each part is set apart from the one before by an empty line. Texts are made fit for a terminal here (printable.h) and
// wrapped; in Markdown they are escaped. A text that is NULL found no memory, and is left out.
#pragma once

#include "server/text/table.h"

struct page {
    struct output *output;
    struct arena *arena;  // of the words
    bool is_markdown;
    bool has_begun;
    bool keeps_words;  // else a word wider than the page loses its middle
    size_t width;      // of text
};

enum { PAGE_WIDTH = 80 };

// How wide a page that is written to `fd` may be: $COLUMNS, else as the terminal, else PAGE_WIDTH.
size_t page_width_of(int fd);

void page_heading(struct page *page, const char *text);
void page_paragraph(struct page *page, const char *text);
void page_table(struct page *page, const struct table *table);  // nothing for one without rows
void page_list(struct page *page, const char *const *items, size_t count);

// What parts are made of: the empty line before one, and a text to the line's end, which begins at the column `indent`,
// as do the lines after it.
void page_begin_part(struct page *page);
void page_line(const struct page *page, const char *text, size_t indent);
