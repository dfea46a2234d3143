#include "server/command/report_page.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "server/text/printable.h"

enum { WIDTH_MIN = 40, WIDTH_MAX = 1000 };

static bool is_usable(long width) {
    return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

static size_t width_of(int fd) {
    const char *columns = getenv("COLUMNS");
    long asked = columns ? strtol(columns, NULL, 10) : 0;
    struct winsize size = {0};
    if (is_usable(asked)) return (size_t)asked;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && is_usable(size.ws_col)) return size.ws_col;
    return REPORT_PAGE_WIDTH;
}

struct report_page report_page_on(const struct report *report, struct output *output, struct arena *arena) {
    return (struct report_page){.output = output,
                                .arena = arena,
                                .is_markdown = report->options.format == FORMAT_MARKDOWN,
                                .width = width_of(report->sink.fd)};
}

static void begin_part(struct report_page *page) {
    if (page->has_begun) output_append_char(page->output, '\n');
    page->has_begun = true;
}

// The next word, in at most `width` columns; "" at the end.
static const char *next_word(const char **text, size_t width, struct arena *arena) {
    *text += strspn(*text, " ");
    size_t size = strcspn(*text, " ");
    const char *word = arena_string(arena, (struct bytes){(const uint8_t *)*text, size});
    *text += size;
    return word ? printable_shorten(word, width, arena) : "";
}

// Breaks lines at blanks; the later ones are indented.
static void put_wrapped(const struct report_page *page, const char *text, size_t indent) {
    size_t column = indent, room = page->width - indent;
    bool is_first = true;
    for (const char *word = next_word(&text, room, page->arena); *word; word = next_word(&text, room, page->arena)) {
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
    output_append_char(page->output, '\n');
}

static void put_line(const struct report_page *page, const char *text, size_t indent) {
    if (!page->is_markdown) {
        put_wrapped(page, text, indent);
        return;
    }
    table_write_markdown_text(text, page->output);
    output_append_char(page->output, '\n');
}

void report_page_heading(struct report_page *page, const char *text) {
    begin_part(page);
    if (page->is_markdown) output_append(page->output, BYTES("### "));
    put_line(page, text, 0);
}

void report_page_paragraph(struct report_page *page, const char *text) {
    begin_part(page);
    put_line(page, text, 0);
}

void report_page_table(struct report_page *page, const struct table *table) {
    begin_part(page);
    if (page->is_markdown)
        table_write_markdown(table, page->output);
    else
        table_write_text(table, page->width, page->output);
}

void report_page_list(struct report_page *page, const char *const *items, size_t count) {
    if (count) begin_part(page);
    for (size_t i = 0; i < count; i++) {
        output_append(page->output, BYTES("- "));
        put_line(page, items[i], 2);
    }
}
