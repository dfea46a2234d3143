#include "server/text/table.h"

#include <ctype.h>

#include "server/text/printable.h"

enum { GAP = 2, BELOW_INDENT = 6, SHRUNK_MIN = 10, FIRST_ROWS = 16 };

struct table table_make(const struct table_column *columns, size_t column_count, struct arena *arena) {
    return (struct table){.columns = columns, .column_count = column_count, .arena = arena};
}

// Room doubles whenever the number of rows is FIRST_ROWS times a power of two.
static bool grow(struct table *table) {
    size_t rows = table->row_count;
    if (rows != 0 && (rows < FIRST_ROWS || (rows & (rows - 1)) != 0)) return true;
    const char **cells = arena_new(table->arena, const char *, (rows ? 2 * rows : FIRST_ROWS) * table->column_count);
    if (!cells) return false;
    if (rows) memcpy(cells, table->cells, rows * table->column_count * sizeof *cells);
    table->cells = cells;
    return true;
}

const char **table_add_row(struct table *table) {
    if (!table->has_failed && grow(table)) return &table->cells[table->row_count++ * table->column_count];
    table->has_failed = true;
    return NULL;
}

static const char *cell(const struct table *table, size_t row, size_t column) {
    const char *text = table->cells[row * table->column_count + column];
    return text ? text : "";
}

static bool is_beside(const struct table_column *column) {
    return column->place != TABLE_BELOW && !column->is_hidden;
}

static void put_blanks(struct output *output, size_t count) {
    while (count-- > 0) output_append_char(output, ' ');
}

// --- Widths ---

// Takes columns off the widest ones that can shrink, until all fit.
static void fit(size_t *widths, const bool *can_shrink, size_t count, size_t room) {
    size_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (can_shrink[i] && widths[i] > room && room > SHRUNK_MIN) widths[i] = room;
        sum += widths[i];
    }
    while (sum > room) {
        size_t widest = count;
        for (size_t i = 0; i < count; i++) {
            if (can_shrink[i] && widths[i] > SHRUNK_MIN && (widest == count || widths[i] > widths[widest])) widest = i;
        }
        if (widest == count) return;
        widths[widest]--;
        sum--;
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

static void measure(const struct table *table, size_t width, size_t widths[TABLE_COLUMNS_MAX]) {
    bool can_shrink[TABLE_COLUMNS_MAX];
    size_t gaps = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        bool is_shown = is_beside(&table->columns[i]);
        widths[i] = is_shown ? natural_width(table, i) : 0;
        can_shrink[i] = is_shown && table->columns[i].can_shrink;
        if (is_shown) gaps += GAP;
    }
    gaps -= gaps ? GAP : 0;
    fit(widths, can_shrink, table->column_count, width > gaps ? width - gaps : 0);
}

// --- Text ---

// Blanks are owed until there is something to the right of them, so that no line ends in blanks.
static void put_cell(const struct table_column *column, const char *text, size_t width, size_t *owed,
                     struct arena *arena, struct output *output) {
    if (column->can_shrink) text = printable_shorten(text, width, arena);
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

static void put_titles(const struct table *table, const size_t *widths, struct output *output) {
    size_t owed = 0;
    for (size_t i = 0; i < table->column_count; i++) {
        if (!is_beside(&table->columns[i])) continue;
        char *title = arena_string(table->arena, bytes_of(table->columns[i].title));
        for (char *c = title; c && *c; c++) *c = (char)toupper((unsigned char)*c);
        put_cell(&table->columns[i], title ? title : "", widths[i], &owed, table->arena, output);
    }
    output_append_char(output, '\n');
}

static void put_below(const struct table *table, size_t row, size_t width, struct output *output) {
    size_t widths[TABLE_COLUMNS_MAX] = {0}, count = 0, owed = BELOW_INDENT;
    bool can_shrink[TABLE_COLUMNS_MAX] = {false};
    for (size_t i = 0; i < table->column_count; i++) {
        if (table->columns[i].place != TABLE_BELOW || !cell(table, row, i)[0]) continue;
        widths[i] = printable_width(cell(table, row, i));
        can_shrink[i] = table->columns[i].can_shrink;
        count++;
    }
    if (count == 0) return;
    size_t gaps = BELOW_INDENT + GAP * (count - 1);
    fit(widths, can_shrink, table->column_count, width > gaps ? width - gaps : 0);
    for (size_t i = 0; i < table->column_count; i++) {
        if (widths[i]) put_cell(&table->columns[i], cell(table, row, i), widths[i], &owed, table->arena, output);
    }
    output_append_char(output, '\n');
}

void table_write_text(const struct table *table, size_t width, struct output *output) {
    size_t widths[TABLE_COLUMNS_MAX];
    measure(table, width, widths);
    put_titles(table, widths, output);
    for (size_t row = 0; row < table->row_count; row++) {
        size_t owed = 0;
        for (size_t i = 0; i < table->column_count; i++) {
            if (!is_beside(&table->columns[i])) continue;
            put_cell(&table->columns[i], cell(table, row, i), widths[i], &owed, table->arena, output);
        }
        output_append_char(output, '\n');
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
        table_write_markdown_text(cells[i] ? cells[i] : "", output);
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
