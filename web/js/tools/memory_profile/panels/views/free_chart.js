// @ts-check
// The plot of free memory and its largest block in the window of the timeline, with the same mouse.
import { fetchTimeline } from "../../../../api.js";
import { attachChartMouse } from "../../../../base/chart_mouse.js";
import { el } from "../../../../base/dom.js";
import { requestFrame } from "../../../../base/frame.js";
import { drawnBy } from "../../../../base/picture/drawn_by.js";
import { inFrame, onResize, together } from "../../../../base/upkeep.js";
import { drawFree } from "../draw/free_painter.js";
import { freeSteps, stepAt } from "../layout/free_curve.js";
import { FREE_GUTTERS, freeHeights } from "../layout/free_frame.js";

const MOST_BUCKETS = 10000;
const REST_MS = 60; // a zoom under way asks once it rests

/** @param {any} context @param {{onError: (error: Error) => void, onSteps: () => void}} calls */
export function createFreeChart(context, { onError, onSteps }) {
  const { state } = context;
  const canvas = el("canvas", {
    class: "free-canvas",
    role: "img",
    "aria-label": "free memory and its largest block over time",
  });
  const area = el("div", { class: "free-area" });
  const node = el(
    "div",
    { class: "free-chart", tabindex: 0, role: "group", "aria-label": "free memory over time" },
    canvas,
    area,
  );
  let controller = new AbortController();
  let timer = 0;
  let loaded = "";
  let steps = [];
  let moments = [];

  const plotWidth = () => Math.max(1, canvas.clientWidth - FREE_GUTTERS.left - FREE_GUTTERS.right);

  const view = () => ({ x: state.get().x, y: freeHeights(steps) });

  const timeAt = ({ x }) => state.get().axis.toTime(x);

  function draw() {
    if (node.isConnected && canvas.clientWidth > 0) drawOn(canvas);
  }

  function drawOn(surface) {
    const { axis, unit, hover } = state.get();
    const [chosen, time] = [state.chosenTime(), hover?.time ?? null];
    drawFree(surface, { steps, view: view(), axis, moments, unit, chosen, hover: time });
  }

  function windowChanged() {
    requestFrame(draw);
    clearTimeout(timer);
    timer = window.setTimeout(load, loaded === "" ? 0 : REST_MS);
  }

  async function load() {
    const { from, to } = state.get();
    const query = { from_ps: from, to_ps: to, buckets: Math.min(MOST_BUCKETS, plotWidth()) };
    const key = JSON.stringify(query);
    if (key === loaded || !node.isConnected) return;
    loaded = key;
    controller.abort();
    controller = new AbortController();
    try {
      steps = freeSteps(await fetchTimeline(context.where, query, controller.signal));
      requestFrame(draw);
      onSteps();
    } catch (error) {
      if (error.name !== "AbortError") onError(error);
    }
  }

  drawnBy(canvas, drawOn);
  attachChartMouse(area, {
    view,
    isFull: state.isAll,
    actions: state.actions,
    onHover: (at) => state.actions.hoverAt(at && { time: timeAt(at), row: null }),
    onClick: (at) => context.goTo({ at: Math.round(timeAt(at)) }),
  });
  const dispose = together(
    onResize(node, windowChanged),
    state.watch(["axis", "x"], windowChanged),
    inFrame(state, ["hover", "at", "row", "unit"], draw),
    () => clearTimeout(timer),
    () => controller.abort(),
  );
  return {
    node,
    showMoments(now) {
      moments = now;
      windowChanged();
    },
    at: (time) => stepAt(steps, time),
    dispose,
  };
}
