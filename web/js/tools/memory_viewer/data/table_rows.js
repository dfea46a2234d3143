// @ts-check
// The table of live buffers: its columns, their order, and the same as CSV. Pure.
import { csvLine } from "../../../base/csv.js";
import { compareValues, parseSort as parseSortOf, sortText as sortTextOf } from "../../../base/sorting.js";
import { categoryOf } from "./categories.js";
import { nameOf, paddingOf } from "./model.js";

/**
 * `value` sorts and exports; `kind` tells the view how to show it.
 * @typedef {{key: string, label: string, csv: string, kind: "text"|"source"|"size"|"number"|"ratio"|"category"|"span",
 *            value: (model: any, row: number) => any}} Column
 */

/** @type {Column[]} */
export const COLUMNS = [
  { key: "name", label: "Buffer", csv: "InstructionName", kind: "text", value: nameOf },
  {
    key: "category",
    label: "Type",
    csv: "AllocationType",
    kind: "category",
    value: (m, r) => labelOf(m.category[r]),
  },
  { key: "size", label: "Size", csv: "SizeBytes", kind: "size", value: (m, r) => m.size[r] },
  { key: "padding", label: "Padding", csv: "PaddingBytes", kind: "size", value: paddingOf },
  { key: "source", label: "Source", csv: "Source", kind: "source", value: (m, r) => m.strings[m.source[r]] },
  { key: "op", label: "Framework op", csv: "OpName", kind: "text", value: (m, r) => m.strings[m.opName[r]] },
  { key: "shape", label: "Shape", csv: "Shape", kind: "text", value: (m, r) => m.strings[m.shape[r]] },
  { key: "unpadded", label: "Unpadded", csv: "UnpaddedSizeBytes", kind: "size", value: unpaddedOf },
  { key: "expansion", label: "Expansion", csv: "Expansion", kind: "ratio", value: expansionOf },
  { key: "start", label: "Alloc at", csv: "AllocAt", kind: "number", value: (m, r) => m.startStep[r] },
  { key: "end", label: "Free at", csv: "FreeAt", kind: "number", value: (m, r) => m.endStep[r] },
];

const labelOf = (category) => categoryOf(category).label;

function unpaddedOf(model, row) {
  return model.unpadded[row] < 0 ? null : model.unpadded[row];
}

const CSV_ONLY = [
  { csv: "OpCode", value: (m, r) => m.strings[m.opcode[r]] },
  { csv: "BufferId", value: (m, r) => m.id[r] },
  { csv: "Allocation", value: (m, r) => m.allocation[r] },
  { csv: "OffsetBytes", value: (m, r) => m.offset[r] },
];

export function expansionOf(model, row) {
  return model.unpadded[row] > 0 ? model.size[row] / model.unpadded[row] : null;
}

export const parseSort = (text) => parseSortOf(text, COLUMNS, "size");
export const sortText = (sort) => sortTextOf(sort, COLUMNS, "size");

/** @returns {Uint32Array} the rows that `flags` lets through, sorted; equal ones stay in program order */
export function arrangeRows(model, rows, sort, flags) {
  const kept = flags ? rows.filter((row) => flags[row]) : Uint32Array.from(rows);
  const column = COLUMNS.find((one) => one.key === sort.key);
  const values = new Map();
  for (const row of kept) values.set(row, column.value(model, row));
  const sign = sort.descending ? -1 : 1;
  return kept.sort((a, b) => compareValues(values.get(a), values.get(b), sign) || a - b);
}

export function toCsv(model, rows) {
  const columns = [...COLUMNS, ...CSV_ONLY];
  const lines = [csvLine(columns.map((column) => column.csv))];
  for (const row of rows) lines.push(csvLine(columns.map((column) => column.value(model, row))));
  return `${lines.join("\n")}\n`;
}

/** The end of a path, which tells files apart: "…/jax/train.py:70". */
export function shortSource(source) {
  const parts = source.split("/");
  return parts.length <= 3 ? source : `…/${parts.slice(-2).join("/")}`;
}
