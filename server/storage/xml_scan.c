#include "server/storage/xml_scan.h"

static struct bytes rest_of(const struct xml_scan *scan) {
    return (struct bytes){scan->document.data + scan->at, scan->document.size - scan->at};
}

// Moves behind the first `end`. False: there is none.
static bool skip_past(struct xml_scan *scan, struct bytes end) {
    struct bytes rest = rest_of(scan);
    size_t found = bytes_find(rest, end);
    if (found == rest.size) return false;
    scan->at += found + end.size;
    return true;
}

static bool ends_name(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '/' || c == '>';
}

static struct bytes take_name(struct xml_scan *scan) {
    struct bytes name = {scan->document.data + scan->at, 0};
    for (; scan->at < scan->document.size && !ends_name(scan->document.data[scan->at]); scan->at++) {
        if (scan->document.data[scan->at] == ':')
            name = (struct bytes){scan->document.data + scan->at + 1, 0};
        else
            name.size++;
    }
    return name;
}

// Behind the ">" of a tag; ">" may stand in the value of an attribute. False: the tag does not end.
static bool skip_attributes(struct xml_scan *scan, bool *closes_itself) {
    uint8_t quote = 0;
    for (; scan->at < scan->document.size; scan->at++) {
        uint8_t c = scan->document.data[scan->at];
        if (quote) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            *closes_itself = scan->document.data[scan->at - 1] == '/';
            scan->at++;
            return true;
        }
    }
    return false;
}

static enum xml_part take_tag(struct xml_scan *scan) {
    bool is_close = bytes_starts_with(rest_of(scan), BYTES("</")), ignored;
    scan->at += is_close ? 2 : 1;
    scan->name = take_name(scan);
    if (scan->name.size == 0 || !skip_attributes(scan, is_close ? &ignored : &scan->closes_itself)) return XML_FAULT;
    return is_close ? XML_CLOSE : XML_OPEN;
}

static enum xml_part take_text(struct xml_scan *scan) {
    struct bytes rest = rest_of(scan);
    const uint8_t *end = memchr(rest.data, '<', rest.size);
    scan->text = (struct bytes){rest.data, end ? (size_t)(end - rest.data) : rest.size};
    scan->at += scan->text.size;
    return XML_TEXT;
}

// What begins here, if it is a thing to pass over: passes it. False: it is not, or *is_good says that it does not end.
static bool pass_over(struct xml_scan *scan, bool *is_good) {
    struct bytes rest = rest_of(scan);
    bool is_comment = bytes_starts_with(rest, BYTES("<!--"));
    if (!is_comment && !bytes_starts_with(rest, BYTES("<?"))) return false;
    *is_good = skip_past(scan, is_comment ? BYTES("-->") : BYTES("?>"));
    return *is_good;
}

static enum xml_part next_part(struct xml_scan *scan) {
    bool is_good = true;
    while (pass_over(scan, &is_good)) continue;
    struct bytes rest = rest_of(scan);
    if (!is_good || bytes_starts_with(rest, BYTES("<!"))) return XML_FAULT;
    if (rest.size == 0) return XML_END;
    return rest.data[0] == '<' ? take_tag(scan) : take_text(scan);
}

enum xml_part xml_next(struct xml_scan *scan) {
    if (scan->closes_itself) {
        scan->closes_itself = false;
        return XML_CLOSE;
    }
    size_t before = scan->at;
    enum xml_part part = next_part(scan);
    if (part == XML_FAULT) scan->at = before;
    return part;
}

// --- Entities ---

enum { LONGEST_ENTITY_BYTES = 10 };

static size_t put_utf8(uint32_t code, uint8_t to[4]) {
    if (code < 0x80) return to[0] = (uint8_t)code, 1;
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; code >>= 6) to[i] = (uint8_t)(0x80 | (code & 0x3f));
    to[0] = (uint8_t)(leads[size] | code);
    return size;
}

static bool read_number(struct bytes digits, uint32_t base, uint32_t *code) {
    *code = 0;
    for (size_t i = 0; i < digits.size; i++) {
        uint8_t c = digits.data[i], lower = c | 0x20;
        bool is_letter = base == 16 && lower >= 'a' && lower <= 'f';
        if (!is_letter && (c < '0' || c > '9')) return false;
        *code = *code * base + (is_letter ? (uint32_t)(lower - 'a' + 10) : (uint32_t)(c - '0'));
        if (*code > 0x10ffff) return false;
    }
    return digits.size > 0 && *code > 0 && (*code < 0xd800 || *code > 0xdfff);
}

// The character of an entity without "&" and ";". False: there is none of that name.
static bool read_entity(struct bytes name, uint32_t *code) {
    static const struct {
        const char *name;
        uint8_t code;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (bytes_equal(name, bytes_of(known[i].name))) return *code = known[i].code, true;
    }
    bool is_hex = bytes_starts_with(name, BYTES("#x"));
    if (!bytes_starts_with(name, BYTES("#"))) return false;
    size_t skipped = is_hex ? 2 : 1;
    return read_number((struct bytes){name.data + skipped, name.size - skipped}, is_hex ? 16 : 10, code);
}

// How many bytes of `text` the entity at its start takes; 0: it is none. Its character goes to `to`.
static size_t take_entity(struct bytes text, uint8_t to[4], size_t *size) {
    size_t most = text.size < LONGEST_ENTITY_BYTES ? text.size : LONGEST_ENTITY_BYTES;
    const uint8_t *end = text.data[0] == '&' ? memchr(text.data, ';', most) : NULL;
    uint32_t code;
    if (!end || !read_entity((struct bytes){text.data + 1, (size_t)(end - text.data) - 1}, &code)) return 0;
    *size = put_utf8(code, to);
    return (size_t)(end - text.data) + 1;
}

struct bytes xml_text(struct bytes text, struct arena *arena) {
    uint8_t *plain = arena_push_raw(arena, text.size + 4, 1);
    size_t size = 0;
    for (size_t at = 0; plain && at < text.size;) {
        size_t added = 1;
        size_t taken = take_entity((struct bytes){text.data + at, text.size - at}, plain + size, &added);
        if (!taken) plain[size] = text.data[at];
        at += taken ? taken : 1;
        size += added;
    }
    return (struct bytes){plain, plain ? size : 0};
}
