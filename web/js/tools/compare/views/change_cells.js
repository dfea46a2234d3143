// @ts-check
// Cells of a difference: a figure with its sign; a bar from the middle, to the left for less, to the right for more.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { exactBytes, figureIn, pickUnit } from "../../../base/format.js";
import { signed } from "../data/changes.js";

const LEAST = 0.1; // of a column's unit: what is smaller says more in its own

/** @param {number} bytes @param {{name: string, bytes: number, digits: number}} unit */
const unitFor = (bytes, unit) => (Math.abs(bytes) < LEAST * unit.bytes ? pickUnit(bytes) : unit);

/** @param {number} delta @param {{name: string, bytes: number, digits: number}} unit */
export function deltaFigure(delta, unit) {
  const kind = delta > 0 ? "more" : delta < 0 ? "less" : "same";
  const title = signed(delta, exactBytes(Math.abs(delta)));
  const text = delta === 0 ? "0" : signed(delta, figureIn(Math.abs(delta), unit));
  return el("span", { class: `figure delta ${kind}`, title }, text, el("span", { class: "unit" }, ` ${unit.name}`));
}

export function deltaBar(delta, most) {
  const bar = el("span", { class: `delta-bar ${delta > 0 ? "more" : "less"}` });
  bar.style.width = `${(100 * Math.abs(delta)) / Math.max(1, most)}%`;
  return el("span", { class: "delta-track", "aria-hidden": "true" }, bar);
}

/** What a table of changes puts into its cells itself. @param {() => number} most the largest difference */
export const fillChange = (most) => (cell, { key }, row, units) => {
  if (key === "delta") cell.append(deltaFigure(row.delta, unitFor(row.delta, units.delta)));
  else if (key === "bar") cell.append(deltaBar(row.delta, most()));
  else if ((key === "before" || key === "after") && row[key] !== 0)
    cell.append(sizeFigure(row[key], "auto", unitFor(row[key], units[key])));
  else return false;
  return true;
};
