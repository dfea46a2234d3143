// Values that the documents of the Memory Profile have in common.
#pragma once

#include "analysis/base/arena.h"
#include "server/text/json_writer.h"

// To six decimals, as fine as a chart can show: a third of the cost of writing every digit.
double fragmentation_shortened(double fragmentation);

// "FLOAT", "int32": the name of TensorFlow's data type; on `arena` where it stands in no table. "" without memory.
const char *data_type_text(int64_t data_type, struct arena *arena);
