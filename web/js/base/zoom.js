// @ts-check
/**
 * The moves of a view of two ranges inside what there is: zoom, pan, show. Pure but for `show`, which takes what comes
 * of it.
 * @typedef {import("./range.js").Range} Range
 * @typedef {{x: Range, y: Range}} View
 */
import { clampRange, panRange, range, revealRange, span, zoomRange } from "./range.js";

/**
 * @param {{view: () => View, full: () => View, least: {x: number, y: number}, show: (view: View) => void}} options
 *     `least`: how far one may come closer
 */
export function zoomActions({ view, full, least, show }) {
  /** About a place that stays where it is on the screen. @param {"x" | "y" | "xy"} axes */
  function zoom(axes, at, factor) {
    const now = { ...view() };
    for (const axis of /** @type {("x" | "y")[]} */ ([...axes]))
      now[axis] = zoomRange(now[axis], at[axis], factor, full()[axis], least[axis]);
    show(now);
  }

  function pan(dx, dy = 0) {
    const { x, y } = view();
    show({ x: panRange(x, dx, full().x), y: panRange(y, dy, full().y) });
  }

  /** @param {Range} x @param {Range | null} y null: as it is */
  function showRange(x, y = null) {
    const wide = range(x.begin, x.begin + Math.max(least.x, span(x)));
    show({ x: clampRange(wide, full().x), y: y ? clampRange(y, full().y) : view().y });
  }

  /** Moves no further than it must. @param {Range} x @param {Range | null} y */
  function revealAt(x, y = null) {
    const now = view();
    const shown = y ? revealRange(now.y, y.begin, y.end, full().y) : now.y;
    show({ x: revealRange(now.x, x.begin, x.end, full().x), y: shown });
  }

  return { zoom, pan, showRange, revealAt };
}
