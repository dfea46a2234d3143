// The elements and texts of an XML document, one after the other: as much of XML as the answers of object stores use.
//
//     <Contents><Key>a &amp; b</Key>...     open "Contents", open "Key", text "a &amp; b", close "Key", ...
//
// Attributes, comments, the XML declaration and processing instructions are passed over. A document type is a fault:
// with it entities could be declared that grow without end. Views into the document; allocates nothing but by xml_text.
#pragma once

#include "analysis/base/arena.h"

enum xml_part { XML_OPEN, XML_CLOSE, XML_TEXT, XML_END, XML_FAULT };

struct xml_scan {
    struct bytes document;
    size_t at;
    struct bytes name;   // of XML_OPEN and XML_CLOSE, without its namespace prefix
    struct bytes text;   // of XML_TEXT, with its entities
    bool closes_itself;  // <a/>: XML_CLOSE is next
};

static inline struct xml_scan xml_scan_of(struct bytes document) {
    return (struct xml_scan){.document = document};
}

// The next part. XML_FAULT: at `at` there is none; so is every later call.
enum xml_part xml_next(struct xml_scan *scan);

// The text with its entities replaced, on the arena; an unknown entity stays as it is. No data at the arena's limit.
struct bytes xml_text(struct bytes text, struct arena *arena);
