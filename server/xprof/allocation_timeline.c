#include "server/xprof/allocation_timeline.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "analysis/memory/buffer_description.h"
#include "server/text/utf8.h"

enum { WIDTH = 4096, HEIGHT = 2048, RESOLUTION = 4096, LABEL_HEIGHT_MIN = 40, LABEL_WIDTH_PER_LETTER = 24 };

struct canvas {
    const struct memory_view *view;
    struct buffer_describer describer;
    struct output *output;
    int64_t *base_of_allocation;  // temporary allocations stand on top of each other, in the order of the module
    int64_t height_bytes;         // all of them: what the canvas' height stands for
    uint32_t drawn, left_out;
};

// --- Text into HTML ---

static const char *entity_of(uint8_t c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return NULL;
    }
}

// Escaped; what is not UTF-8 becomes U+FFFD.
static void put_text(struct output *output, struct bytes text) {
    for (size_t at = 0; at < text.size;) {
        struct utf8_step step = utf8_next(text.data + at, text.size - at);
        const char *entity = step.is_valid ? entity_of(text.data[at]) : "\xef\xbf\xbd";
        output_append(output, entity ? bytes_of(entity) : (struct bytes){text.data + at, step.size});
        at += step.size;
    }
}

// Markup by printf's rules, for numbers and constants only.
__attribute__((format(printf, 2, 3))) static void put_format(struct output *output, const char *format, ...) {
    enum { FORMATTED_BYTES = 1024 };
    char text[FORMATTED_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    output_put(output, text);
}

// --- The drawing ---

static bool stack_allocations(struct canvas *canvas, struct arena *arena) {
    const struct hlo_module *module = canvas->view->module;
    canvas->base_of_allocation = arena_new(arena, int64_t, module->allocation_count);
    if (!canvas->base_of_allocation) return false;
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &module->allocations[i];
        if (allocation->color != canvas->view->totals.space || allocation_is_indefinite(allocation)) continue;
        canvas->base_of_allocation[i] = canvas->height_bytes;
        canvas->height_bytes += allocation->size_bytes;
    }
    return true;
}

// The part of `whole`, from 0 to 1.
static double part_of(double value, double whole) {
    return whole > 0 ? value / whole : 0;
}

static void put_title(struct canvas *canvas, const struct memory_buffer *row, const struct buffer_description *words) {
    put_format(canvas->output,
               "<title>buffer_id: %" PRId64 "\nsize: %" PRId64 " bytes\nunpadded_size: %" PRId64
               " bytes\noffset: %" PRId64 "\nspan: (%" PRIu32 ", %" PRIu32 ")\nhlo_op: ",
               canvas->view->module->buffers[row->buffer].id, row->size_bytes, row->unpadded_bytes, row->offset,
               row->start_step, row->end_step);
    put_text(canvas->output, words->name);
    output_put(canvas->output, "\nshape: ");
    put_text(canvas->output, words->shape);
    output_put(canvas->output, "\nop_name: ");
    put_text(canvas->output, words->op_name);
    output_put(canvas->output, "</title>");
}

static void put_label(struct canvas *canvas, double x, double y, double width, double height, struct bytes name) {
    if (height < LABEL_HEIGHT_MIN || width < (double)name.size * LABEL_WIDTH_PER_LETTER) return;
    put_format(canvas->output,
               "<text x=\"%.1f\" y=\"%.1f\" font-size=\"40\" font-family=\"sans-serif\" text-anchor=\"middle\" "
               "dominant-baseline=\"central\" pointer-events=\"none\">",
               x + width / 2, y + height / 2);
    put_text(canvas->output, name);
    output_put(canvas->output, "</text>");
}

static const char *fill_of(uint32_t row) {
    static const char *const fills[] = {"#9ecae1", "#c7e9c0", "#fdd0a2", "#dadaeb", "#fcbba1", "#d9d9d9", "#ccebc5"};
    return fills[row % (sizeof fills / sizeof *fills)];
}

static void put_rectangle(struct canvas *canvas, uint32_t index) {
    const struct memory_buffer *row = &canvas->view->rows[index];
    double steps = canvas->view->replay.step_count, bytes = (double)canvas->height_bytes;
    double width = part_of((double)row->end_step - row->start_step, steps) * WIDTH;
    double height = part_of((double)row->size_bytes, bytes) * HEIGHT;
    if (width < (double)WIDTH / RESOLUTION || height < (double)HEIGHT / RESOLUTION) {
        canvas->left_out++;
        return;
    }
    int64_t base = row->allocation == HLO_NONE ? 0 : canvas->base_of_allocation[row->allocation];
    double x = part_of(row->start_step, steps) * WIDTH;
    double y = HEIGHT - part_of((double)base + (double)row->offset, bytes) * HEIGHT - height;
    struct buffer_description words = buffer_describe(&canvas->describer, row->buffer);
    canvas->drawn++;
    put_format(canvas->output,
               "<g><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#666\" "
               "stroke-width=\"1\"/>",
               x, y, width, height, fill_of(index));
    put_label(canvas, x, y, width, height, words.name);
    put_title(canvas, row, &words);
    output_put(canvas->output, "</g>\n");
}

static void put_head(struct canvas *canvas, const char *module) {
    char name[MEMORY_SPACE_NAME_BYTES];
    output_put(canvas->output, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
    put_text(canvas->output, bytes_of(module));
    output_put(canvas->output, " - allocation timeline</title></head>\n<body>\n<h1>");
    put_text(canvas->output, bytes_of(module));
    output_put(canvas->output, ", ");
    put_text(canvas->output, bytes_of(memory_space_name(canvas->view->totals.space, name)));
    output_put(canvas->output, "</h1>\n");
}

static void put_drawing(struct canvas *canvas) {
    const struct memory_view *view = canvas->view;
    put_format(canvas->output,
               "<p>Memory offset (0 at the bottom, %" PRId64
               " bytes at the top) over program order (steps 0 to %" PRIu32
               "). Rest the pointer on a buffer for its details.</p>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"100%%\">\n"
               "<rect width=\"%d\" height=\"%d\" fill=\"#fff\" stroke=\"#000\"/>\n",
               canvas->height_bytes, view->replay.step_count, WIDTH, HEIGHT, WIDTH, HEIGHT);
    for (uint32_t i = view->indefinite_row_count; i < view->row_count; i++) put_rectangle(canvas, i);
    put_format(canvas->output,
               "</svg>\n<p>%" PRIu32 " buffers drawn; %" PRIu32
               " smaller than 1/4096 of either side are left out.</p>\n",
               canvas->drawn, canvas->left_out);
}

bool allocation_timeline_write(const struct memory_view *view, const char *module, struct arena *scratch,
                               struct output *output, struct error *error) {
    struct canvas canvas = {.view = view, .output = output};
    if (!buffer_describer_init(&canvas.describer, view->module, view->scope, scratch) ||
        !stack_allocations(&canvas, scratch)) {
        return error_set(error, ERROR_TOO_BIG, "no memory left for the reply");
    }
    put_head(&canvas, module);
    if (view->has_simulation) {
        put_drawing(&canvas);
    } else {
        output_put(output,
                   "<p>No memory allocation timeline available: there is no memory activity data to display for "
                   "this memory space.</p>\n");
    }
    output_put(output, "</body></html>\n");
    return true;
}
