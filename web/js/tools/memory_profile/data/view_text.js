// @ts-check
// Times and ranges as the address writes them: whole picoseconds and bytes. Pure.
import { range } from "../../../base/range.js";

/** @returns {number | null} */
export function parseTime(text) {
  const value = text === null || text === undefined || text === "" ? NaN : Number(text);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** Null when it is not a range. */
export function parseRange(from, to) {
  const [begin, end] = [parseTime(from), parseTime(to)];
  return begin === null || end === null || end <= begin ? null : range(begin, end);
}

export function rangeText({ begin, end }) {
  return [String(Math.max(0, Math.floor(begin))), String(Math.ceil(end))];
}
