#include "server/text/page.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/text/printable.h"

enum { WIDTH_MIN = 40, WIDTH_MAX = 1000 };

static bool is_usable(long width) {
    return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

size_t page_width_of(int fd) {
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size = {0};
    if (is_usable(asked)) return (size_t)asked;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && is_usable(size.ws_col)) return size.ws_col;
    return PAGE_WIDTH;
}

void page_begin_part(struct page *page) {
    if (page->has_begun) output_append_char(page->output, '\n');
    page->has_begun = true;
}

// The next word; "" at the end.
static const char *next_word(const struct page *page, const char **text, size_t room) {
    *text += strspn(*text, " ");
    size_t size = strcspn(*text, " ");
    const char *word = arena_string(page->arena, (struct bytes){(const uint8_t *)*text, size});
    *text += size;
    if (!word) return "";
    return page->keeps_words ? word : printable_shorten(word, room, page->arena);
}

// Breaks lines at blanks.
static void put_wrapped(const struct page *page, const char *text, size_t indent) {
    size_t column = indent, room = page->width - indent;
    bool is_first = true;
    for (const char *word = next_word(page, &text, room); *word; word = next_word(page, &text, room)) {
        size_t columns = printable_width(word);
        if (!is_first && column + 1 + columns > page->width) {
            output_append_char(page->output, '\n');
            for (size_t i = 0; i < indent; i++) output_append_char(page->output, ' ');
            column = indent;
        } else if (!is_first) {
            output_append_char(page->output, ' ');
            column++;
        }
        output_append(page->output, bytes_of(word));
        column += columns;
        is_first = false;
    }
}

void page_line(const struct page *page, const char *text, size_t indent) {
    const char *words = printable_text(bytes_of(text), page->arena);
    if (page->is_markdown)
        table_write_markdown_text(words, page->output);
    else
        put_wrapped(page, words, indent);
    output_append_char(page->output, '\n');
}

void page_heading(struct page *page, const char *text) {
    if (!text) return;
    page_begin_part(page);
    if (page->is_markdown) output_append(page->output, BYTES("### "));
    page_line(page, text, 0);
}

void page_paragraph(struct page *page, const char *text) {
    if (!text) return;
    page_begin_part(page);
    page_line(page, text, 0);
}

void page_table(struct page *page, const struct table *table) {
    if (!table->row_count) return;
    page_begin_part(page);
    if (page->is_markdown)
        table_write_markdown(table, page->output);
    else
        table_write_text(table, page->width, page->output);
}

void page_list(struct page *page, const char *const *items, size_t count) {
    if (count) page_begin_part(page);
    for (size_t i = 0; i < count; i++) {
        if (!items[i]) continue;
        output_append(page->output, BYTES("- "));
        page_line(page, items[i], 2);
    }
}
