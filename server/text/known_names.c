#include "server/text/known_names.h"

#include "analysis/base/text_writer.h"
#include "server/text/printable.h"
#include "server/text/utf8.h"

void known_names_add(struct known_names *names, struct bytes name, struct arena *arena) {
    size_t kept = names->different < KNOWN_NAMES_MAX ? names->different : KNOWN_NAMES_MAX;
    names->count++;
    for (size_t i = 0; i < kept; i++) {
        if (utf8_same_text(name, names->texts[i])) return;
    }
    if (kept < KNOWN_NAMES_MAX) names->texts[kept] = printable_text(name, arena);
    names->different = kept + 1;
}

const char *known_names_text(const struct known_names *names, size_t most, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    for (size_t i = 0; i < names->different && i <= most; i++) {
        if (i) text_put(&text, ", ");
        text_put(&text, i < most ? names->texts[i] : "...");
    }
    const char *written = names->different ? text_writer_finish(&text) : "none";
    return written ? written : "another";
}
