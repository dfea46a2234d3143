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
 * @typedef {{by: string, keys: string[], of: Int32Array}} GroupOfRow `of` is a place in `keys`, the largest first; -1
 *     for none
 */

/** @param {import("./model.js").Model} model @param {import("./groups.js").Groups} groups @returns {GroupOfRow} */
export function groupsOfRows(model, groups) {
  const of = new Int32Array(model.count).fill(-1);
  const place = model.placeInView && new Map(Array.from(model.placeInView, (row, i) => [row, i]));
  groups.rows.forEach(({ members }, i) => {
    for (const row of members) {
      const at = place ? place.get(row) : row;
      if (at !== undefined) of[at] = i;
    }
  });
  return { by: groups.by, keys: groups.rows.map(({ key }) => lastFrame(groups.by, key)), of };
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
  const source = model.strings[model.source[row]];
  return source.slice(source.lastIndexOf("/") + 1);
}
