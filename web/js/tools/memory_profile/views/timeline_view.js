// @ts-check
// "Memory Timeline Graph": the plot (area_painter.js) under its axes, lanes and cursors (timeline_overlay.js).
import { toValue } from "../../../base/axes.js";
import { button, el, setText } from "../../../base/dom.js";
import { requestFrame } from "../../../base/frame.js";
import { attachGestures } from "../../../base/gestures.js";
import { range, sameRange, span } from "../../../base/range.js";
import { chartOwnsWheel, wheelFactor } from "../../../base/wheel.js";
import { areaInks, createAreaPainter } from "../draw/area_painter.js";
import { drawTimelineOverlay } from "../draw/timeline_overlay.js";
import { LANE_HEIGHT, bandAt, bandKey } from "../layout/frame.js";
import { bandText, eventsInView, figureAt, legend, readoutText, summaryText, tellFinest } from "./timeline_text.js";

const FLAT_MARK = 20; // a mark not higher than this means times only

/**
 * @param {{state: any, memory: any, feeds: () => {own: any, over: any[]}, lanes: () => any[], onRow: (row: number,
 *          time: number) => void}} parts `feeds` of the memory and of those drawn over it
 */
export function createTimeline({ state, memory, feeds, lanes, onRow }) {
  const base = el("canvas", { class: "timeline-base", role: "img", "aria-label": summaryText(memory) });
  const overlay = el("canvas", { class: "overlay" });
  const laneArea = el("div", { class: "timeline-lanes" });
  const axisArea = el("div", { class: "timeline-axis", title: "wheel: zoom in bytes" });
  const readout = el("span", { class: "readout", "aria-live": "off" });
  const aside = el("span", { class: "aside", id: "timeline-events" });
  const height = button("", () => state.actions.switchHeight(), { class: "quiet small", id: "switch-height" });
  const reset = button("Reset Zoom", () => state.actions.showAll(), { class: "quiet small", id: "reset-zoom" });
  const keyNode = el("span", { class: "curve-key" });
  const head = el("div", { class: "chart-head" }, el("h2", {}, "Memory Timeline Graph"), keyNode, readout);
  const foot = el("div", { class: "timeline-foot" }, aside, reset, height);
  const frame = el("div", { class: "timeline" }, base, laneArea, axisArea, overlay, foot);
  const node = el("section", { class: "chart", tabindex: 0, "aria-label": "memory over time" }, head, frame);
  const painter = createAreaPainter(base);
  let inks = null;
  let curves = [];
  let mark = null;
  let laneHover = "";
  /** @type {{curves: any[], node: HTMLElement}[]} what the memories drawn over it hold at the cursor */
  let overFigures = [];

  function draw() {
    const { x, y } = state.get();
    const columns = painter.columnCount();
    if (columns < 1 || !frame.isConnected) return;
    inks ??= areaInks();
    const { own, over } = feeds();
    curves = own.feed.want(x, columns);
    const others = over.map((one) => one.feed.want(x, columns));
    painter.paint({ curves, over: others, view: { x, y }, inks });
    overFigures.forEach((one, i) => {
      one.curves = others[i] ?? [];
    });
    setText(aside, eventsInView(curves, x));
    showHeight();
    drawOver();
  }

  function drawOver() {
    const { x, y, unit, hover, run } = state.get();
    drawTimelineOverlay(overlay, {
      view: { x, y },
      lanes: lanes(),
      unit,
      peak: { ...state.peak, bytes: memory.peak_bytes, step: memory.peak_step },
      chosen: state.chosenTime(),
      isPeakChosen: state.get().at === null,
      hover: hover?.time ?? null,
      mark,
      run,
      hasFragmentation: memory.tells_free !== false,
    });
    const time = hover?.time ?? state.chosenTime();
    setText(readout, laneHover || readoutText(tellOf(time), time, { unit, tellsFree: memory.tells_free !== false }));
    readout.title = readout.textContent;
    overFigures.forEach(({ curves: others, node: figure }) => setText(figure, figureAt(others, time, unit)));
  }

  const tellOf = (time) => (time === null ? null : tellFinest(curves, time));

  function showHeight() {
    const { all, use } = state.heights();
    height.hidden = sameRange(all, use) || memory.capacity_bytes === null;
    setText(height, sameRange(state.get().y, all) ? "Fit to use" : "Fit to capacity");
    reset.disabled = state.isAll();
  }

  function layOut() {
    const count = lanes().length;
    frame.style.setProperty("--lanes", `${count * LANE_HEIGHT}px`);
    laneArea.hidden = count === 0;
    const { over } = feeds();
    overFigures = over.map(() => ({ curves: [], node: el("span", { class: "figure unit" }) }));
    keyNode.replaceChildren(...legend(memory, over, overFigures));
    requestFrame(draw);
  }

  const timeAt = (point) => toValue(point.x, state.get().x, base.clientWidth);
  const bytesAt = (point) => state.get().y.begin + (1 - point.y / base.clientHeight) * span(state.get().y);

  function hover(point) {
    const time = timeAt(point);
    state.actions.hoverAt({ time, row: tellOf(time)?.row ?? null });
  }

  function onWheel(event, point, onAxis = false) {
    const turn = Math.abs(event.deltaY) >= Math.abs(event.deltaX) ? event.deltaY : event.deltaX;
    if (!chartOwnsWheel(event.timeStamp, turn > 0, state.isAll())) return;
    event.preventDefault();
    const factor = wheelFactor({ deltaMode: event.deltaMode, deltaY: turn });
    if (event.shiftKey || event.altKey || onAxis) return state.actions.zoomY(bytesAt(point), factor);
    if (turn === event.deltaX && turn !== 0)
      return state.actions.pan(event.deltaX * (span(state.get().x) / base.clientWidth));
    state.actions.zoomX(timeAt(point), factor);
  }

  function markArea(from, to, done) {
    const isFlat = Math.abs(from.y - to.y) < FLAT_MARK;
    const [x0, x1] = [from.x, to.x].sort((a, b) => a - b);
    const [y0, y1] = isFlat ? [0, base.clientHeight] : [from.y, to.y].sort((a, b) => a - b);
    mark = done ? null : { x0, x1, y0, y1 };
    requestFrame(drawOver);
    if (!done || x1 - x0 < 4) return;
    const y = isFlat ? null : range(Math.max(0, bytesAt({ y: y1 })), bytesAt({ y: y0 }));
    state.actions.showRange(range(timeAt({ x: x0 }), timeAt({ x: x1 })), y);
  }

  function panBy(dx, dy) {
    const { x, y } = state.get();
    state.actions.pan(-dx * (span(x) / base.clientWidth), dy * (span(y) / base.clientHeight));
  }

  attachGestures(base, {
    onHover: hover,
    onLeave: () => state.actions.hoverAt(null),
    onClick: (point) => {
      const tell = tellOf(timeAt(point));
      if (tell) onRow(tell.row, Math.round(timeAt(point)));
    },
    onDouble: () => state.actions.showAll(),
    onPan: panBy,
    onMark: markArea,
    onWheel,
  });
  attachGestures(axisArea, {
    onPan: (_, dy) => panBy(0, dy),
    onWheel: (event, point) => onWheel(event, point, true),
  });
  attachGestures(laneArea, {
    onHover: (point) => hoverBand(bandUnder(point)),
    onLeave: () => hoverBand(null),
    onClick: (point) => {
      const found = bandUnder(point);
      if (found) state.actions.showBand(bandKey(found.lane, found.i), found.begin, found.end);
    },
    onDouble: () => {},
    onWheel,
  });

  function bandUnder(point) {
    const lane = lanes()[Math.floor(point.y / LANE_HEIGHT)];
    const i = lane ? bandAt(lane.bands, timeAt(point), span(state.get().x) / base.clientWidth) : -1;
    return i < 0 ? null : { lane, i, begin: lane.bands.begin[i], end: lane.bands.end[i] };
  }

  function hoverBand(found) {
    laneHover = found ? bandText(found) : "";
    requestFrame(drawOver);
  }

  function redraw() {
    inks = null;
    layOut();
  }

  const observer = new ResizeObserver(() => requestFrame(draw));
  observer.observe(frame);
  const stops = [
    state.watch(["x", "y", "unit"], () => requestFrame(draw)),
    state.watch(["hover", "at", "row", "run"], () => requestFrame(drawOver)),
  ];
  return {
    node,
    start: layOut,
    redraw,
    /** New curves, lanes or other memories. */
    refresh: layOut,
    curvesChanged: () => requestFrame(draw),
    dispose() {
      observer.disconnect();
      stops.forEach((stop) => stop());
    },
  };
}
