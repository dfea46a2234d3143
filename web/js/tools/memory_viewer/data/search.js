// @ts-check
// Searching the buffers of a model. Every distinct string is tested once, however many rows share it.
import { matcher } from "../../../base/text_match.js";

const COLUMNS = ["instruction", "opName", "opcode", "shape", "source"];

/** @returns {Uint8Array | null} one flag per row, or null when nothing is searched */
export function matchRows(model, query) {
  const test = matcher(query);
  if (!test) return null;
  const hits = Uint8Array.from(model.strings, (text) => (text !== "" && test(text) ? 1 : 0));
  const flags = new Uint8Array(model.count);
  for (const column of COLUMNS) {
    const indexes = model[column];
    for (let row = 0; row < model.count; row += 1) flags[row] |= hits[indexes[row]];
  }
  return flags;
}

export function countFlags(flags) {
  let count = 0;
  for (const flag of flags) count += flag;
  return count;
}

/** Matching rows, largest first: the order in which Enter visits them. */
export function rankedMatches(model, flags) {
  const rows = [];
  for (let row = 0; row < model.count; row += 1) if (flags[row]) rows.push(row);
  return rows.sort((a, b) => model.size[b] - model.size[a] || a - b);
}
