// @ts-check
// "Memory Timeline Graph": the plot (area_painter.js) under its axes, lanes and cursors (timeline_overlay.js).
import { attachChartMouse } from "../../../base/chart_mouse.js";
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { requestFrame } from "../../../base/frame.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { sameRange, span } from "../../../base/range.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { OVER_COLORS, areaInks, createAreaPainter } from "../draw/area_painter.js";
import { drawAreas } from "../draw/area_vectors.js";
import { drawTimelineOverlay } from "../draw/timeline_overlay.js";
import { LANE_HEIGHT, bandAt, bandKey } from "../layout/frame.js";
import { breakAt, piecesIn } from "../layout/time_axis.js";
import {
  bandText,
  eventsInView,
  figureAt,
  idleText,
  legend,
  readoutText,
  summaryText,
  tellFinest,
} from "./timeline_text.js";

/**
 * @param {{state: any, memory: any, feeds: () => {own: any, over: any[]}, lanes: () => any[], from: () => string[],
 *          onRow: (row: number, time: number) => void}} parts `feeds` of the memory and of those drawn over it
 */
export function createTimeline({ state, memory, feeds, lanes, from, onRow }) {
  const base = el("canvas", { class: "timeline-base", role: "img", "aria-label": summaryText(memory) });
  const overlay = el("canvas", { class: "overlay" });
  const laneArea = el("div", { class: "timeline-lanes" });
  const axisArea = el("div", { class: "timeline-axis", title: "wheel: zoom in bytes" });
  const readout = el("span", { class: "readout", "aria-live": "off" });
  const aside = el("span", { class: "aside", id: "timeline-events" });
  const height = button("", () => state.actions.switchHeight(), { class: "quiet small", id: "switch-height" });
  const idle = button("", () => state.actions.switchIdle(), {
    class: "quiet small",
    id: "switch-idle",
    title: "Long stretches without memory events (x)",
  });
  const reset = button("Reset Zoom", () => state.actions.showAll(), { class: "quiet small", id: "reset-zoom" });
  const keyNode = el("span", { class: "curve-key" });
  const foot = el("div", { class: "timeline-foot" }, aside, idle, reset, height);
  const frame = el("div", { class: "timeline" }, base, laneArea, axisArea, overlay, foot);
  const options = { tabindex: 0, "aria-label": "memory over time" };
  const saves = { what: "timeline", from };
  const node = chartSection("Memory Timeline Graph", [keyNode, readout], [frame], options, saves);
  const painter = createAreaPainter(base);
  let inks = null;
  let curves = [];
  let mark = null;
  let laneHover = "";
  /** @type {{curves: any[], node: HTMLElement}[]} what the memories drawn over it hold at the cursor */
  let overFigures = [];

  function draw() {
    const { axis, x, y } = state.get();
    const columns = painter.columnCount();
    if (columns < 1 || !frame.isConnected) return;
    inks ??= areaInks();
    const { own, over } = feeds();
    const pieces = piecesIn(axis, x, columns);
    curves = own.feed.want(pieces);
    const others = over.map((one) => one.feed.want(pieces));
    painter.paint({ curves, over: others, view: { x, y }, axis, inks });
    drawnBy(base, (surface) =>
      drawAreas(surface, { curves, over: others, view: { x, y }, axis, overColors: OVER_COLORS }),
    );
    overFigures.forEach((one, i) => {
      one.curves = others[i] ?? [];
    });
    setText(aside, eventsInView(curves, pieces));
    showHeight();
    drawOver();
  }

  function drawOverOn(surface) {
    const { axis, x, y, unit, hover, run } = state.get();
    drawTimelineOverlay(surface, {
      view: { x, y },
      axis,
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
  }

  function drawOver() {
    const { axis, unit, hover } = state.get();
    drawOverOn(overlay);
    const time = hover?.time ?? state.chosenTime();
    const told = readoutText(tellOf(time), time, { unit, tellsFree: memory.tells_free !== false });
    setText(readout, laneHover || `${told}${idleText(breakAt(axis, time))}`);
    readout.title = readout.textContent;
    overFigures.forEach(({ curves: others, node: figure }) => setText(figure, figureAt(others, time, unit)));
  }

  const tellOf = (time) => (time === null ? null : tellFinest(curves, time));

  function showHeight() {
    const { all, use } = state.heights();
    height.hidden = sameRange(all, use) || memory.capacity_bytes === null;
    setText(height, sameRange(state.get().y, all) ? "Fit to use" : "Fit to capacity");
    reset.disabled = state.isAll();
    const { canLeaveOut, isLeftOut } = state.idle();
    idle.hidden = !canLeaveOut;
    setText(idle, isLeftOut ? "Show idle time" : "Leave out idle time");
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

  drawnBy(overlay, drawOverOn);

  const timeAt = ({ x }) => state.get().axis.toTime(x);
  const hoverOf = (time) => ({ time, row: tellOf(time)?.row ?? null });

  const chart = {
    view: () => ({ x: state.get().x, y: state.get().y }),
    isFull: state.isAll,
    actions: state.actions,
    zooms: (event) => (event.shiftKey || event.altKey ? "y" : "x"),
  };

  attachChartMouse(base, {
    ...chart,
    pansY: true,
    marksY: true,
    onHover: (at) => state.actions.hoverAt(at && hoverOf(timeAt(at))),
    onClick(at) {
      const time = timeAt(at);
      const tell = tellOf(time);
      if (tell) onRow(tell.row, Math.round(time));
    },
    onMark(now) {
      mark = now;
      requestFrame(drawOver);
    },
  });
  attachChartMouse(axisArea, { ...chart, zooms: () => "y", pansX: false, pansY: true, onDouble: () => {} });
  attachChartMouse(laneArea, {
    ...chart,
    pansX: false,
    onHover: (at, point) => hoverBand(at && bandUnder(at, point)),
    onClick(at, point) {
      const found = bandUnder(at, point);
      if (found) state.actions.showBand(bandKey(found.lane, found.i), found.begin, found.end);
    },
    onDouble: () => {},
  });

  function bandUnder(at, point) {
    const lane = lanes()[Math.floor(point.y / LANE_HEIGHT)];
    const time = timeAt(at);
    const slack = timeAt({ x: at.x + span(state.get().x) / base.clientWidth }) - time;
    const i = lane ? bandAt(lane.bands, time, slack) : -1;
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

  const dispose = together(
    onResize(frame, draw),
    inFrame(state, ["axis", "x", "y", "unit"], draw),
    inFrame(state, ["hover", "at", "row", "run"], drawOver),
  );
  return {
    node,
    start: layOut,
    redraw,
    /** New curves, lanes or other memories. */
    refresh: layOut,
    curvesChanged: () => requestFrame(draw),
    dispose,
  };
}
