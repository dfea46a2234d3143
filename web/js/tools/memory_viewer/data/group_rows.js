// @ts-check
/**
 * The rows that belong to a group at whatever step they live, and what they hold over program order. Pure.
 *
 *     key of row   0 params   1 a.py:1   2 a.py:1      the whole program's, where data/groups.js has those of one step
 *     a.py:1       ····####______####···               live bytes of rows 1 and 2 after each event
 *
 * The curves of all keys sum to the live bytes of each step: what rows do not explain (a damaged trace) is the unknown
 * group's.
 * @typedef {{by: string, strings: string[], keyOfRow: Uint32Array}} GroupRows
 * @typedef {{key: string, name: string, rows: Uint32Array, isUnknown: boolean}} Held a group that charts light
 */
import { isWithin, lastFrame } from "./group_paths.js";

const UNKNOWN = "(unknown)";

/** @returns {GroupRows} */
export function groupRowsOf(reply) {
  return { by: reply.by, strings: reply.strings, keyOfRow: Uint32Array.from(reply.key_of_row) };
}

/** The rows of a key, or of all that go on from a path. @param {GroupRows} of @returns {Uint32Array} */
export function rowsOfKey({ by, strings, keyOfRow }, key) {
  const isMeant = Uint8Array.from(strings, (one) => Number(isWithin(by, one, key)));
  const rows = new Uint32Array(keyOfRow.length);
  let count = 0;
  for (let row = 0; row < rows.length; row += 1) {
    if (isMeant[keyOfRow[row]]) rows[count++] = row;
  }
  return rows.slice(0, count);
}

/** @returns {Held | null} null where no group, or the path of all, is meant */
export function heldOf(by, key, rows) {
  if (!key || rows === null) return null;
  return { key, name: lastFrame(by, key), rows: Uint32Array.from(rows), isUnknown: key === UNKNOWN };
}

/**
 * What the group holds after each event, to the byte.
 * @param {import("./model.js").Model} model @param {Held} held @returns {Float64Array}
 */
export function curveOf(model, { rows, isUnknown }) {
  const curve = sumOverSteps(model, rows);
  if (!isUnknown) return curve;
  const explained = sumOverSteps(model, Uint32Array.from({ length: model.count }, (_, row) => row));
  return curve.map((bytes, step) => bytes + model.heap[step] - explained[step]);
}

function sumOverSteps(model, rows) {
  const curve = new Float64Array(model.heap.length);
  for (const row of rows) {
    curve[model.aliveBegin[row]] += model.size[row];
    if (model.aliveEnd[row] < curve.length) curve[model.aliveEnd[row]] -= model.size[row];
  }
  for (let step = 1; step < curve.length; step += 1) curve[step] += curve[step - 1];
  return curve;
}

/** The first step at which a curve is highest; null where it holds nothing. @param {Float64Array} curve */
export function highestStep(curve) {
  const most = curve.reduce((high, bytes) => Math.max(high, bytes), 0);
  return most > 0 ? curve.indexOf(most) : null;
}
