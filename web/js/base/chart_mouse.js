// @ts-check
/**
 * The mouse on a chart that can be zoomed: gestures.js in the chart's data instead of pixels. Drag pans, Shift-drag
 * zooms into what is marked, and so does a plain drag while everything is in sight; the wheel zooms at the cursor or,
 * turned sideways, pans; a double click shows everything.
 *
 * @typedef {import("./range.js").Range} Range
 * @typedef {{x: number, y: number}} Place in the data
 * @typedef {{
 *   view: () => {x: Range, y: Range}, isFull: () => boolean, actions: any,
 *   onHover?: (at: Place | null, point?: any) => void, onClick?: (at: Place, point: any) => void,
 *   onDouble?: () => void,
 *   zooms?: (event: WheelEvent) => "x" | "y" | "xy", pansX?: boolean, pansY?: boolean,
 *   onMark?: (mark: {x0: number, x1: number, y0: number, y1: number} | null) => void, marksY?: boolean}} Chart
 *     `actions` are those of zoom.js, and showAll; `onMark` draws what is being marked; `point` is in pixels
 */
import { attachGestures } from "./gestures.js";
import { range, span } from "./range.js";
import { chartOwnsWheel, wheelFactor } from "./wheel.js";

const LEAST_MARK = 4; // pixels
const FLAT_MARK = 20; // one that is not higher means x only

/** @param {HTMLElement} node @param {Chart} chart */
export function attachChartMouse(node, chart) {
  const { view, actions, zooms = () => "x", pansX = true, pansY = false, marksY = false } = chart;
  const perPixelX = () => span(view().x) / node.clientWidth;
  const perPixelY = () => span(view().y) / node.clientHeight;

  /** @returns {Place} */
  function placeOf(point) {
    const { x, y } = view();
    return { x: x.begin + point.x * perPixelX(), y: y.end - point.y * perPixelY() };
  }

  function onPan(dx, dy) {
    actions.pan(pansX ? -dx * perPixelX() : 0, pansY ? dy * perPixelY() : 0);
  }

  function onMark(from, to, done) {
    const isFlat = !marksY || Math.abs(from.y - to.y) < FLAT_MARK;
    const [x0, x1] = [from.x, to.x].sort((a, b) => a - b);
    const [y0, y1] = isFlat ? [0, node.clientHeight] : [from.y, to.y].sort((a, b) => a - b);
    chart.onMark?.(done ? null : { x0, x1, y0, y1 });
    if (!done || x1 - x0 < LEAST_MARK) return;
    const [low, high] = [placeOf({ x: x0, y: y1 }), placeOf({ x: x1, y: y0 })];
    actions.showRange(range(low.x, high.x), isFlat ? null : range(Math.max(0, low.y), high.y));
  }

  function onWheel(event, point) {
    const isSideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const turn = isSideways ? event.deltaX : event.deltaY;
    if (!chartOwnsWheel(event.timeStamp, turn > 0, chart.isFull())) return;
    event.preventDefault();
    const axes = zooms(event);
    if (isSideways && axes !== "y" && !event.shiftKey && !event.altKey) return actions.pan(turn * perPixelX());
    const factor = wheelFactor({ deltaMode: event.deltaMode, deltaY: turn });
    actions.zoom(axes, placeOf(point), factor);
  }

  attachGestures(node, {
    onHover: (point) => chart.onHover?.(placeOf(point), point),
    onLeave: () => chart.onHover?.(null),
    onClick: (point) => chart.onClick?.(placeOf(point), point),
    onDouble: chart.onDouble ?? actions.showAll,
    onPan,
    onMark: chart.onMark && onMark,
    marks: () => Boolean(chart.onMark) && chart.isFull(),
    onWheel,
  });
}
