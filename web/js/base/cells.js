// @ts-check
// What a cell of each kind holds: one unit for a column, exact values in the tooltip.
import { el } from "./dom.js";
import { sizeFigure } from "./figures.js";
import { formatPercent, groupDigits, pickColumnUnit } from "./format.js";
import { shortSource } from "./source_text.js";
import { exactTime, figureInMs } from "./time_text.js";

const SMALLEST_SHARE = 0.0005;
const INDENT = 14;

/** The unit of each column of sizes; columns of one `scale` are there to be compared and share theirs. */
export function unitsOf(columns, rows, mode, pick = pickColumnUnit) {
  const sizes = columns.filter((one) => one.kind === "size");
  const scaleOf = (column) => column.scale ?? column.key;
  const largest = {};
  for (const column of sizes) {
    const scale = scaleOf(column);
    for (const row of rows) largest[scale] = Math.max(largest[scale] ?? 0, Math.abs(column.value(row) ?? 0));
  }
  return Object.fromEntries(sizes.map((column) => [column.key, pick(largest[scaleOf(column)] ?? 0, mode)]));
}

/** What is not known stays empty, and a 0 where the column says `noZero`. */
export function fillCell(cell, column, value, unit) {
  if (value === null || value === undefined || (value === 0 && column.noZero)) return;
  if (value === "" && column.kind !== "op") return;
  cell.append(CONTENT[column.kind](value, { unit, digits: column.digits }));
  if (["text", "op", "source"].includes(column.kind)) cell.title = value;
}

const CONTENT = {
  text: (text) => text,
  op: opName,
  source: shortSource,
  number: groupDigits,
  row: (row) => groupDigits(row + 1),
  count: groupDigits,
  size: (bytes, { unit }) => sizeFigure(bytes, "auto", unit),
  ratio: (ratio) => el("span", { class: "figure" }, ratio.toFixed(2), el("span", { class: "unit" }, " ×")),
  share: shareFigure,
  time: timeFigure,
  duration: timeFigure,
};

/** A path too long for its cell loses its beginning: what tells ops apart is the end. */
export function opName(op) {
  return el("span", { class: "op-name ellipsis" }, el("bdi", { dir: "ltr" }, op === "" ? "(no op name)" : op));
}

/** What stands first in the line of a tree: further in with its depth, with a sign where it opens. */
export function treeName({ depth, isOpen }, keepsRoom, ...content) {
  const name = el("span", { class: "tree-name" });
  name.style.paddingLeft = `${INDENT * depth}px`;
  const sign = isOpen === null ? "" : isOpen ? "▾" : "▸";
  if (sign || keepsRoom) name.append(el("span", { class: "twisty", "aria-hidden": "true" }, sign));
  name.append(...content);
  return name;
}

function shareFigure(share) {
  const bar = el("span", { class: "share-bar", "aria-hidden": "true" });
  bar.style.width = `${Math.max(0, Math.min(100, 100 * share))}%`;
  return el("span", { class: "share-cell" }, bar, el("span", { class: "figure" }, shareText(share)));
}

export function shareText(share) {
  return share > 0 && share < SMALLEST_SHARE ? "<0.1 %" : formatPercent(share);
}

function timeFigure(ps, { digits = 3 }) {
  const least = 10 ** -digits;
  const text = ps > 0 && ps / 1e9 < least / 2 ? `<${least}` : figureInMs(ps, digits);
  return el("span", { class: "figure", title: exactTime(ps) }, text, el("span", { class: "unit" }, " ms"));
}
