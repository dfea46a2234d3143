// Writing protobuf messages, for what a text says: the other direction of proto/wire.h. Private to hlo_text_*.
//
//     size_t mark = encode_open(&w, HLO_PROTO_MODULE);      key, and room for the length
//     encode_bytes(&w, HLO_MODULE_NAME, name);
//     encode_close(&w, mark);                               the length is put in
//
// A length takes its full five bytes, so that nothing has to move. At the arena's limit the writer remembers that it
// failed (text_writer.h).
#pragma once

#include "analysis/base/text_writer.h"

void encode_varint(struct text_writer *w, uint32_t field, uint64_t value);
void encode_flag(struct text_writer *w, uint32_t field, bool value);  // nothing when false
void encode_bytes(struct text_writer *w, uint32_t field, struct bytes value);
size_t encode_open(struct text_writer *w, uint32_t field);
void encode_close(struct text_writer *w, size_t mark);
