#include "server/text/plot.h"

#include "server/text/printable.h"

enum { LEVELS = 8 };

static const char BAR[] = " \xe2\x94\x82";  // a blank, and a line from top to bottom

static void put(const struct page *page, const char *text, size_t times) {
    for (size_t i = 0; i < times; i++) output_append(page->output, bytes_of(text));
}

static void put_label(const struct page *page, const char *label, size_t width) {
    put(page, " ", width - printable_width(label));
    put(page, label, 1);
}

size_t plot_columns(const struct page *page, const char *top_label) {
    size_t label = printable_width(top_label) + 2;
    return page->width > label ? page->width - label : 0;
}

// How many eighths of line `line` (0 is the lowest) the value fills.
static int level_in(int64_t value, int64_t top, int line) {
    double eighths = top > 0 ? (double)value / (double)top * PLOT_LINES * LEVELS : 0;
    double here = eighths - (double)(line * LEVELS);
    return here <= 0 ? 0 : here >= LEVELS ? LEVELS : (int)(here + 0.999);
}

static void write_line(const struct page *page, const int64_t *values, size_t count, int64_t top, int line) {
    static const char *const blocks[LEVELS + 1] = {" ",
                                                   "\xe2\x96\x81",
                                                   "\xe2\x96\x82",
                                                   "\xe2\x96\x83",
                                                   "\xe2\x96\x84",
                                                   "\xe2\x96\x85",
                                                   "\xe2\x96\x86",
                                                   "\xe2\x96\x87",
                                                   "\xe2\x96\x88"};
    put(page, BAR, 1);
    for (size_t i = 0; i < count; i++) put(page, blocks[level_in(values[i], top, line)], 1);
    put(page, "\n", 1);
}

// Above its column, and to the left of it where there is no room to the right.
static void write_mark(const struct page *page, size_t count, size_t peak, size_t label_width, const char *label) {
    static const char mark[] = "\xe2\x96\xbc";  // a triangle that points down
    size_t words = printable_width(label) + 1;
    bool is_left = peak + 1 + words > count && peak >= words;
    put(page, " ", label_width + 2 + (is_left ? peak - words : peak));
    if (is_left) put(page, label, 1);
    put(page, is_left ? " " : "", 1);
    put(page, mark, 1);
    put(page, is_left ? "" : " ", 1);
    if (!is_left) put(page, label, 1);
    put(page, "\n", 1);
}

void plot_write(struct page *page, const int64_t *values, size_t count, size_t peak, const char *top_label) {
    size_t width = printable_width(top_label);
    if (!count || peak >= count) return;
    page_begin_part(page);
    write_mark(page, count, peak, width, top_label);
    for (int line = PLOT_LINES; line-- > 0;) {
        put_label(page, line == PLOT_LINES - 1 ? top_label : line == 0 ? "0 B" : "", width);
        write_line(page, values, count, values[peak], line);
    }
}
