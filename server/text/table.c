#include "server/text/table.h"

#include <ctype.h>

#include "analysis/base/growing_array.h"
#include "server/text/printable.h"

enum { GAP = 2, BELOW_INDENT = 6, SHRUNK_MIN = 10 };

struct table table_make(const struct table_column *columns, size_t column_count, struct arena *arena) {
    return (struct table){.columns = columns, .column_count = column_count, .arena = arena};
}

void table_add(struct table *table, const char *const *cells, size_t count) {
    size_t width = table->column_count;
    if (!growing_array_has_room(table->arena, &table->cells, table->row_count, width * sizeof *cells)) {
        table->has_failed = true;
        return;
    }
    const char **row = &table->cells[table->row_count++ * width];
    for (size_t i = 0; i < width; i++)
        row[i] = i < count && cells[i] ? printable_text(bytes_of(cells[i]), table->arena) : "";
}

static const char *cell(const struct table *table, size_t row, size_t column) {
    return table->cells[row * table->column_count + column];
}

static bool can_shrink(const struct table_column *column) {
    return column->place == TABLE_SHRINKING || column->place == TABLE_BELOW;
}

static bool is_beside(const struct table_column *column) {
    return column->place != TABLE_BELOW && !column->is_hidden;
}

static void put_blanks(struct output *output, size_t count) {
    while (count-- > 0) output_append_char(output, ' ');
}

// --- Widths ---

// Takes columns off the widest ones that can shrink, until all fit side by side into `room`. Those of no width are not
// there.
static void fit(const struct table *table, size_t *widths, size_t room) {
    size_t sum = 0, gaps = 0;
    for (size_t i = 0; i < table->column_count; i++) gaps += widths[i] ? GAP : 0;
    gaps -= gaps ? GAP : 0;
    room = room > gaps ? room - gaps : 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (can_shrink(&table->columns[i]) && widths[i] > room && room > SHRUNK_MIN) widths[i] = room;
        sum += widths[i];
    }
    for (; sum > room; sum--) {
        size_t *widest = NULL;
        for (size_t i = 0; i < table->column_count; i++) {
            bool may_shrink = can_shrink(&table->columns[i]) && widths[i] > SHRUNK_MIN;
            if (may_shrink && (!widest || widths[i] > *widest)) widest = &widths[i];
        }
        if (!widest) return;
        --*widest;
    }
}

static size_t natural_width(const struct table *table, size_t column) {
    size_t widest = printable_width(table->columns[column].title);
    for (size_t row = 0; row < table->row_count; row++) {
        size_t width = printable_width(cell(table, row, column));
        if (width > widest) widest = width;
    }
    return widest;
}

// --- Text ---

// Blanks are owed until there is something to the right of them, so that no line ends in blanks.
static void put_cell(const struct table_column *column, const char *text, size_t width, size_t *owed,
                     struct arena *arena, struct output *output) {
    if (can_shrink(column)) text = printable_shorten(text, width, arena);
    size_t taken = printable_width(text), rest = width > taken ? width - taken : 0;
    if (taken) {
        put_blanks(output, *owed + (column->place == TABLE_RIGHT ? rest : 0));
        output_append(output, bytes_of(text));
        *owed = column->place == TABLE_RIGHT ? 0 : rest;
    } else {
        *owed += width;
    }
    *owed += GAP;
}

static void put_row(const struct table *table, const char *const *cells, const size_t *widths, size_t indent,
                    struct output *output) {
    size_t owed = indent;
    for (size_t i = 0; i < table->column_count; i++) {
        if (widths[i]) put_cell(&table->columns[i], cells[i], widths[i], &owed, table->arena, output);
    }
    output_append_char(output, '\n');
}

static void put_titles(const struct table *table, const size_t *widths, struct output *output) {
    const char *titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) {
        char *title = arena_string(table->arena, bytes_of(table->columns[i].title));
        for (char *c = title; c && *c; c++) *c = (char)toupper((unsigned char)*c);
        titles[i] = title ? title : "";
    }
    put_row(table, titles, widths, 0, output);
}

static void put_below(const struct table *table, size_t row, size_t width, struct output *output) {
    size_t widths[TABLE_COLUMNS_MAX], sum = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        widths[i] = table->columns[i].place == TABLE_BELOW ? printable_width(cell(table, row, i)) : 0;
        sum += widths[i];
    }
    fit(table, widths, width > BELOW_INDENT ? width - BELOW_INDENT : 0);
    if (sum) put_row(table, &table->cells[row * table->column_count], widths, BELOW_INDENT, output);
}

void table_write_text(const struct table *table, size_t width, struct output *output) {
    size_t widths[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++)
        widths[i] = is_beside(&table->columns[i]) ? natural_width(table, i) : 0;
    fit(table, widths, width);
    put_titles(table, widths, output);
    for (size_t row = 0; row < table->row_count; row++) {
        put_row(table, &table->cells[row * table->column_count], widths, 0, output);
        put_below(table, row, width, output);
    }
}

// --- Markdown ---

void table_write_markdown_text(const char *text, struct output *output) {
    for (; *text; text++) {
        if (*text == '<') {
            output_append(output, BYTES("&lt;"));
            continue;
        }
        if (strchr("\\|`*", *text)) output_append_char(output, '\\');
        output_append_char(output, *text);
    }
}

static void put_markdown_row(const struct table *table, const char *const *cells, struct output *output) {
    output_append_char(output, '|');
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_hidden) continue;
        output_append_char(output, ' ');
        table_write_markdown_text(cells[i], output);
        output_append(output, BYTES(" |"));
    }
    output_append_char(output, '\n');
}

void table_write_markdown(const struct table *table, struct output *output) {
    const char *titles[TABLE_COLUMNS_MAX];
    for (size_t i = 0; i < table->column_count; i++) titles[i] = table->columns[i].title;
    put_markdown_row(table, titles, output);
    output_append_char(output, '|');
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].is_hidden) continue;
        output_append(output, table->columns[i].place == TABLE_RIGHT ? BYTES(" ---: |") : BYTES(" --- |"));
    }
    output_append_char(output, '\n');
    for (size_t row = 0; row < table->row_count; row++)
        put_markdown_row(table, &table->cells[row * table->column_count], output);
}
