#include "server/text/query_text.h"

#include <string.h>

void query_put(struct text_writer *text, const char *before, const char *value) {
    static const char hex[] = "0123456789ABCDEF";
    text_put(text, before);
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        bool is_plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                        strchr("-_.~/", *c);
        char escaped[] = {'%', hex[*c >> 4], hex[*c & 15], 0};
        if (is_plain)
            text_put_bytes(text, (struct bytes){c, 1});
        else
            text_put(text, escaped);
    }
}

static int digit_of(char c) {
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *query_decode(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        int high = *at == '%' ? digit_of(at[1]) : -1, low = high >= 0 ? digit_of(at[2]) : -1;
        bool is_code = low >= 0 && (high || low);  // no NUL
        *to++ = is_code ? (char)(high << 4 | low) : *at == '+' ? ' ' : *at;
        if (is_code) at += 2;
    }
    *to = '\0';
    return text;
}
