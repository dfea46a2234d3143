// @ts-check
// Searching the buffers of a model. Every distinct string is tested once, however many rows share it.
import { matcher } from "../../../base/text_match.js";
import { CATEGORIES } from "./categories.js";

const STRINGS_PER_STEP = 2048;
const COLUMNS = ["instruction", "opName", "opcode", "shape", "source"];

/**
 * In steps (base/slices.js), since there may be very many strings.
 * @returns {Generator<void, Uint8Array | null>} one flag per row, or null when nothing is searched
 */
export function* matchRows(model, query) {
  const category = categoryAsked(query);
  if (category >= 0) return Uint8Array.from(model.category, (own) => Number(own === category));
  const test = matcher(query);
  if (!test) return null;
  const { strings, count } = model;
  const hits = new Uint8Array(strings.length);
  for (let i = 0; i < strings.length; i += 1) {
    if (strings[i] !== "" && test(strings[i])) hits[i] = 1;
    if (i % STRINGS_PER_STEP === STRINGS_PER_STEP - 1) yield;
  }
  const flags = new Uint8Array(count);
  for (const column of COLUMNS) {
    const indexes = model[column];
    for (let row = 0; row < count; row += 1) flags[row] |= hits[indexes[row]];
    yield;
  }
  return flags;
}

/** Those of `flags` that are among `rows`; null stands for all. */
export function flagsWithin(flags, rows, count) {
  if (rows === null) return flags;
  const out = new Uint8Array(count);
  for (const row of rows) out[row] = flags === null ? 1 : flags[row];
  return out;
}

/** "type:donated": all buffers of one category. */
export const queryOfCategory = (key) => `type:${key}`;

function categoryAsked(query) {
  const asked = query.trim().toLowerCase();
  return CATEGORIES.findIndex(({ key }) => queryOfCategory(key) === asked);
}

export function countFlags(flags) {
  let count = 0;
  for (let row = 0; row < flags.length; row += 1) count += flags[row];
  return count;
}

/** Matching rows, largest first: the order in which Enter visits them. */
export function rankedMatches(model, flags) {
  return model.bySize.filter((row) => flags[row]);
}
