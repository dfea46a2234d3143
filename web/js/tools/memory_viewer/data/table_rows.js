// @ts-check
// The table of live buffers: its columns, for the page and as CSV. A row is its number in the model. Pure.
import { column } from "../../../base/column.js";
import { categoryOf } from "./categories.js";
import { nameOf, paddingOf } from "./model.js";

export function bufferColumns(model) {
  const text = (fact) => (row) => model.strings[model[fact][row]];
  const figure = (fact) => (row) => model[fact][row];
  const category = (row) => categoryOf(model.category[row]).label;
  return [
    column("name", "Buffer", "text", (row) => nameOf(model, row), {
      csv: "InstructionName",
      width: ["14%", 1250, "auto"],
    }),
    column("category", "Type", "category", category, { csv: "AllocationType", width: [100, 900, 92] }),
    column("size", "Size", "size", figure("size"), { csv: "SizeBytes", width: 110 }),
    column("padding", "Padding", "size", (row) => paddingOf(model, row), {
      csv: "PaddingBytes",
      width: [110, 1250, 92],
      noZero: true,
    }),
    column("source", "Source", "source", text("source"), { csv: "Source", width: ["11%", 1250, 138] }),
    column("op", "Framework op", "text", text("opName"), { csv: "OpName", width: ["18%", 1250, "auto", 900, 0] }),
    column("shape", "Shape", "text", text("shape"), { csv: "Shape", width: ["14%", 1250, "auto"] }),
    column("unpadded", "Unpadded", "size", (row) => unpaddedOf(model, row), {
      csv: "UnpaddedSizeBytes",
      width: [110, 1250, 0],
    }),
    column("expansion", "Expansion", "ratio", (row) => expansionOf(model, row), {
      csv: "Expansion",
      width: [88, 1250, 0],
    }),
    column("start", "Alloc at", "number", figure("startStep"), { csv: "AllocAt", width: [74, 1250, 64, 760, 0] }),
    column("end", "Free at", "number", figure("endStep"), { csv: "FreeAt", width: [74, 1250, 64, 760, 0] }),
  ];
}

function unpaddedOf(model, row) {
  return model.unpadded[row] < 0 ? null : model.unpadded[row];
}

export function expansionOf(model, row) {
  return model.unpadded[row] > 0 ? model.size[row] / model.unpadded[row] : null;
}

/** With what the page has no column for. */
export function savedColumns(model) {
  const more = [
    { csv: "OpCode", value: (row) => model.strings[model.opcode[row]] },
    { csv: "BufferId", value: (row) => model.id[row] },
    { csv: "Allocation", value: (row) => model.allocation[row] },
    { csv: "OffsetBytes", value: (row) => model.offset[row] },
  ];
  return [...bufferColumns(model), ...more];
}
