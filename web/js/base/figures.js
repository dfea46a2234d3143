// @ts-check
// Figures as elements: shown grouped or rounded, copied as the plain value, exact bytes in the tooltip; and the scraps
// of colour beside them.
import { el } from "./dom.js";
import { digitGroups, exactBytes, figureIn, pickUnit } from "./format.js";

/** Exact bytes; the groups are set apart by CSS, so a selection copies plain digits. */
export function exactFigure(bytes) {
  const groups = digitGroups(bytes).map((digits) => el("span", { class: "digits" }, digits));
  return el("span", { class: "figure exact" }, ...groups, " B");
}

/** A size in one unit (that of its column when given). */
export function sizeFigure(bytes, mode, unit = pickUnit(bytes, mode)) {
  if (unit.bytes === 1) return exactFigure(bytes);
  return el(
    "span",
    { class: "figure", title: exactBytes(bytes) },
    figureIn(bytes, unit),
    el("span", { class: "unit" }, ` ${unit.name}`),
  );
}

/** In one of the colours that css/base.css names, unless a class of that name says more. */
export function colored(node, color) {
  node.classList.add(color);
  node.style.setProperty("--hue", `var(--${color})`);
  return node;
}

export const swatch = (color) => colored(el("span", { class: "swatch" }), color);
