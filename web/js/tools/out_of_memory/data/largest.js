// @ts-check
// The largest allocations that a message lists, as a file has them. Pure.
import { column } from "../../../base/column.js";

const told = (key, label, kind, csv) => column(key, label, kind, (entry) => entry[key] ?? null, { csv });

export const LARGEST_COLUMNS = [
  told("size_bytes", "Size", "size", "SizeBytes"),
  told("unpadded_bytes", "Unpadded", "size", "UnpaddedSizeBytes"),
  told("op_name", "Operation", "text", "OpName"),
  told("label", "Label", "text", "Label"),
  told("source", "Source", "text", "Source"),
  told("shape", "Shape", "text", "Shape"),
  told("allocation_type", "Type", "text", "AllocationType"),
];
