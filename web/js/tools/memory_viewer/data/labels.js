// @ts-check
/**
 * What stands in a buffer's tile: who holds it first, what HLO calls it second. Pure.
 *
 *     train.py:53  fusion.1473              the reader's line where the groups are by line, else its own
 *     params['layers'][0]['w']  p.12        an argument: its path
 *     copy.7                                neither is known
 */
import { TEMPORARY } from "./categories.js";
import { lastFrame } from "./group_paths.js";
import { nameOf } from "./model.js";

const LINES = ["source", "stack"]; // whose groups are called by lines

/**
 * Which group each row of the model belongs to.
 * @typedef {{by: string, keys: string[], of: Int32Array}} GroupOfRow `of` is a place in `keys`; -1 for none. The
 *     keys are in the order of the step that was looked at first: a group keeps its place, and with it its tint
 */

/**
 * @param {import("./model.js").Model} model @param {import("./groups.js").Groups} groups
 * @param {GroupOfRow | null} before at the step before @returns {GroupOfRow}
 */
export function groupsOfRows(model, groups, before = null) {
  const of = new Int32Array(model.count).fill(-1);
  const rowAt = model.placeInView && new Map(Array.from(model.placeInView, (row, i) => [row, i]));
  const places = new Map(before?.by === groups.by ? before.keys.map((key, i) => [key, i]) : []);
  for (const { key, members } of groups.rows) {
    const name = lastFrame(groups.by, key);
    if (!places.has(name)) places.set(name, places.size);
    for (const row of members) {
      const at = rowAt ? rowAt.get(row) : row;
      if (at !== undefined) of[at] = /** @type {number} */ (places.get(name));
    }
  }
  return { by: groups.by, keys: [...places.keys()], of };
}

/** @param {import("./model.js").Model} model @param {GroupOfRow | null} groups */
export function labelOf(model, row, groups) {
  const holder = row === model.othersRow ? "" : holderOf(model, row, groups);
  return holder ? `${holder}  ${nameOf(model, row)}` : nameOf(model, row);
}

function holderOf(model, row, groups) {
  const path = model.strings[model.opName[row]];
  if (model.category[row] !== TEMPORARY && /[[.]/.test(path)) return path;
  const group = LINES.includes(groups?.by) ? groups.keys[groups.of[row]] : undefined;
  if (group !== undefined && group !== "(unknown)") return group;
  return lineOf(model.strings[model.source[row]]);
}

const UNNUMBERED = -2;
const lineOf = (source) => source.slice(source.lastIndexOf("/") + 1);

/**
 * A number for who holds each row: the place of its group where it is in one, else (not live at the groups' step) that
 * of the group that its own line names, else one of its line; so rows of one holder have one number at any step.
 * @param {import("./model.js").Model} model @param {GroupOfRow | null} groups @returns {Int32Array} -1 for nobody
 */
export function holderNumbers(model, groups) {
  const keys = groups?.keys ?? [];
  const places = new Map(keys.map((key, i) => [key, i]));
  const numberOfSource = new Int32Array(model.strings.length).fill(UNNUMBERED);
  const out = groups ? groups.of.slice() : new Int32Array(model.count).fill(-1);
  const { source } = model;
  let next = keys.length + 1;
  numberOfSource[0] = -1;
  for (let row = 0; row < out.length; row += 1) {
    if (out[row] >= 0) continue;
    const of = source[row];
    if (numberOfSource[of] === UNNUMBERED)
      numberOfSource[of] = places.get(lineOf(model.strings[of])) ?? next++;
    out[row] = numberOfSource[of];
  }
  return out;
}
