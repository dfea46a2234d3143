// @ts-check
// Both step charts share one horizontal axis: the same gutter, the same range, so that one cursor serves both. Pure.
import { niceStep, range, span, ticks } from "../../../base/range.js";

export const GUTTER_LEFT = 76;
export const GUTTER_RIGHT = 14;
export const BLOCK_GUTTERS = { left: GUTTER_LEFT, right: GUTTER_RIGHT, top: 6, below: 36 };

export function fullSteps(model) {
  return range(0, Math.max(1, model.steps));
}

/** Ticks at whole steps. */
export function stepTicks(r, width) {
  return ticks(r, width / 90, Math.max(1, niceStep(span(r) / (width / 90))));
}

/** A zoomed view as the URL writes it: "x0,x1" or "x0,x1,y0,y1"; null when it is not one. */
export function parseZoom(text) {
  const numbers = (text ?? "").split(",").map(Number);
  if (![2, 4].includes(numbers.length) || numbers.some((n) => !Number.isFinite(n))) return null;
  const [x0, x1, y0, y1] = numbers;
  if (x1 <= x0 || (y1 !== undefined && y1 <= y0)) return null;
  return { x: range(x0, x1), y: y1 === undefined ? null : range(y0, y1) };
}

export function zoomText(x, y) {
  const parts = [x.begin, x.end].map((value) => Number(value.toFixed(2)));
  if (y) parts.push(Math.round(y.begin), Math.round(y.end));
  return parts.join(",");
}
