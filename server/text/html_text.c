#include "server/text/html_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "server/text/utf8.h"

enum { FORMATTED_BYTES = 1024 };

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

void html_put_text(struct output *output, struct bytes text) {
    for (size_t at = 0; at < text.size;) {
        struct utf8_step step = utf8_next(text.data + at, text.size - at);
        const char *entity = step.is_valid ? entity_of(text.data[at]) : "\xef\xbf\xbd";
        output_append(output, entity ? bytes_of(entity) : (struct bytes){text.data + at, step.size});
        at += step.size;
    }
}

void html_put_format(struct output *output, const char *format, ...) {
    char text[FORMATTED_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    output_put(output, text);
}
