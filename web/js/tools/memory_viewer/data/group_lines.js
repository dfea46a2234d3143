// @ts-check
/**
 * The lines of "Who holds it": a group each, below an open one its buffers, equal ones together. Pure.
 *
 *     ▾ train.py:53     33.09 GiB   34 buffers
 *         fusion.1473    3.00 GiB   11 x 3.00 GiB      equal: of one size and one shape
 *         fusion.99      9.00 MiB
 */
import { column } from "../../../base/column.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { nameOf, paddingOf } from "./model.js";

export const COMPACT_ROWS = 5;

/** @typedef {{key: string, about: string, bytes: number, share: number, buffers: number, padding: number}} Line */

export const GROUP_COLUMNS = [
  column("held", "Held by", "text", "key", { csv: "Key", width: ["34%", 900, "auto"] }),
  column("about", "What", "text", "about", { csv: "What", width: ["22%", 900, 0] }),
  column("size", "Size", "size", "bytes", { csv: "SizeBytes", width: 110 }),
  column("byteSteps", "Size × steps", "size", "byteSteps", { csv: "ByteSteps", width: [110, 1150, 0] }),
  column("share", "Share", "share", "share", { csv: "Share", width: ["22%", 900, 150] }),
  column("buffers", "Buffers", "count", "buffers", { csv: "Buffers", width: 74 }),
  column("padding", "Padding", "size", "padding", { csv: "PaddingBytes", width: [110, 900, 92], noZero: true }),
];

/** @param {import("./groups.js").Group} group */
export function groupLine(group, isOpen) {
  return { id: `group ${group.key}`, depth: 0, isOpen, group, row: null, told: group };
}

/**
 * The buffers of a group, the largest first, equal ones in one line.
 * @param {import("./model.js").Model} model
 * @param {ReturnType<import("./group_weights.js").sharesOf>} shareOf
 */
export function memberLines(model, group, shareOf) {
  const alike = new Map();
  for (const row of group.members) {
    const key = `${model.size[row]} ${model.shape[row]}`;
    if (!alike.has(key)) alike.set(key, []);
    alike.get(key).push(row);
  }
  const lines = [...alike.values()].map((rows) => memberLine(model, group, rows, shareOf));
  return lines.sort((a, b) => b.told.bytes - a.told.bytes || a.row - b.row);
}

function memberLine(model, group, rows, shareOf) {
  const [first] = rows;
  const size = model.size[first];
  const shape = model.strings[model.shape[first]];
  const more = rows.length > 1 ? ` and ${groupDigits(rows.length - 1)} alike` : "";
  const held = {
    bytes: size * rows.length,
    byteSteps: rows.reduce((sum, row) => sum + size * (model.aliveEnd[row] - model.aliveBegin[row]), 0),
    padding: paddingOf(model, first) * rows.length,
  };
  const told = {
    ...held,
    key: `${nameOf(model, first)}${more}`,
    about: rows.length > 1 ? `${groupDigits(rows.length)} × ${formatSize(size)}  ${shape}` : shape,
    share: shareOf(held),
    buffers: rows.length,
  };
  return { id: `buffer ${group.key} ${first}`, depth: 1, isOpen: null, group, row: first, told };
}
