// @ts-check
// "Memory Allocation Size vs Program Order": what is live at each step, padded and unpadded. uPlot draws the curves
// and the axes; what follows the mouse is drawn on a canvas above them (draw/curve_overlay.js).
import { attachChartMouse } from "../../../base/chart_mouse.js";
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { exactBytes, formatSize, groupDigits } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { range, sameRange } from "../../../base/range.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { curveOf } from "../data/group_rows.js";
import { instructionOf } from "../data/model.js";
import { GUTTER_LEFT, GUTTER_RIGHT } from "../layout/axes.js";
import { sampleCurve } from "../layout/curve_samples.js";
import { createPlot, drawCurves, resizePlot } from "../draw/curve_plot.js";
import { drawCurveOverlay } from "../draw/curve_overlay.js";

const CAPACITY_REACH = 3; // a capacity this many times the peak is said, not drawn: it would flatten the curve
const DOUBLE_CLICK_MS = 500;

export function createCurve(state) {
  const where = el("span", { class: "readout-where" });
  const figures = el("span");
  const readout = el("span", { class: "readout", "aria-live": "off" }, where, figures);
  const holder = el("div", { class: "curve", role: "img", "aria-label": summary(state.model) });
  const note = el("span", { class: "aside" });
  const heldName = el("span", { class: "ellipsis" });
  const heldLine = el("span", { class: "key-line held" });
  const heldKey = el("span", { class: "curve-key", id: "curve-held", hidden: true }, heldLine, heldName);
  const options = { tabindex: 0, "aria-label": "memory over program order" };
  const head = [key(), heldKey, note, readout];
  const title = "Memory Allocation Size vs Program Order";
  const node = chartSection(title, head, [holder], options, { what: "curve" });
  const overlay = el("canvas", { class: "overlay" });
  const scene = { range: () => state.get().x, yMax, unit: () => state.get().unit };
  let plot = null;
  let mark = null;
  /** @type {Float64Array | null} */
  let heldCurve = null;
  let lastClickMs = -Infinity;
  let stepBeforeClicks = state.model.peakStep;

  function build() {
    plot?.destroy();
    plot = createPlot(holder, scene, samples());
    plot.over.append(overlay);
    drawnBy(plot.ctx.canvas, (surface) => drawCurves(surface, plot, scene));
    if (state.model.isWhole) attachChartMouse(plot.over, mouse);
    requestFrame(drawOverlay);
  }

  /** All steps are here. */
  function adopt() {
    attachChartMouse(plot.over, mouse);
    zoom();
  }

  function samples() {
    const { model } = state;
    return model.samples ?? sampleCurve(model.heap, model.unpaddedHeap, state.get().x, plotWidth());
  }
  function plotWidth() {
    return Math.max(100, holder.clientWidth - GUTTER_LEFT - GUTTER_RIGHT);
  }
  function yMax() {
    const { capacity } = state.get();
    const peak = state.model.totals.peak_bytes;
    const reach = capacity !== null && capacity > peak && capacity <= peak * CAPACITY_REACH ? capacity : peak;
    return Math.max(1, reach * 1.08);
  }

  const view = () => ({ x: state.get().x, y: range(0, yMax()) });

  /** What the group under the mouse, else the pinned one, holds at each step: a band below the curve. */
  function showHeld() {
    const { held } = state.get();
    heldCurve = held && curveOf(state.model, held);
    heldKey.hidden = held === null;
    drawOverlay();
  }

  function band() {
    return heldCurve && sampleCurve(heldCurve, heldCurve, state.get().x, plotWidth());
  }

  function drawOverlay() {
    if (!plot) return;
    drawOver(overlay);
    showReadout();
  }

  const drawOver = (surface) => drawCurveOverlay(surface, { state, view: view(), mark, band: band() });
  drawnBy(overlay, drawOver);

  function showReadout() {
    const { model } = state;
    const { hoverStep, step, unit, capacity, held } = state.get();
    setText(where, whereText(model, hoverStep ?? step));
    setText(figures, figuresText(model, hoverStep ?? step, unit, held !== null));
    setText(heldName, held && heldCurve ? `${held.name} ${formatSize(heldCurve[hoverStep ?? step], unit)}` : "");
    readout.title = `${where.textContent.trim()} ${exactBytes(model.heap[hoverStep ?? step])} live`;
    setText(
      note,
      capacity !== null && capacity > yMax() ? `capacity ${formatSize(capacity, unit)} is above this chart` : "",
    );
  }

  const stepAt = (at) => Math.max(0, Math.min(state.model.lastStep, Math.floor(at.x)));

  /** The clicks of a double click choose a step before it is known to be one; it puts the step back. */
  function chooseStep(step) {
    const now = performance.now();
    if (now - lastClickMs > DOUBLE_CLICK_MS) stepBeforeClicks = state.get().step;
    lastClickMs = now;
    state.actions.setStep(step);
  }

  const mouse = {
    view,
    isFull: () => sameRange(state.get().x, state.full.x),
    actions: state.actions,
    onHover: (at) => state.actions.hoverStep(at && stepAt(at)),
    onClick: (at) => chooseStep(stepAt(at)),
    onDouble: () => {
      state.actions.setStep(stepBeforeClicks);
      state.actions.showAll();
    },
    onMark: (now) => {
      mark = now;
      requestFrame(drawOverlay);
    },
  };

  function zoom() {
    const { x } = state.get();
    plot?.setData(samples(), false);
    plot?.setScale("x", { min: x.begin, max: x.end });
    requestFrame(drawOverlay);
  }

  function resize() {
    if (!plot || holder.clientWidth === plot.width) return;
    resizePlot(plot, holder);
    zoom();
  }

  const dispose = together(
    onResize(holder, resize),
    inFrame(state, ["x"], zoom),
    inFrame(state, ["hover", "pinned", "hoverStep", "step"], drawOverlay),
    inFrame(state, ["held"], showHeld),
    inFrame(state, ["unit", "capacity"], build),
    () => {
      plot?.destroy();
      plot = null;
    },
  );
  return { node, start: build, adopt, redraw: build, dispose };
}

function whereText(model, step) {
  const name = instructionOf(model, step);
  return `step ${groupDigits(step)}${name ? `, ${name}` : ""}:  `;
}

/** In short where a group's figure stands beside it. */
function figuresText(model, step, unit, isShort) {
  const [live, unpadded] = [model.heap[step], model.unpaddedHeap[step]].map((bytes) => formatSize(bytes, unit));
  return isShort ? `${live} live` : `${live} live, ${unpadded} unpadded`;
}

function key() {
  return el(
    "span",
    { class: "curve-key" },
    el("span", { class: "key-line padded" }),
    "Size",
    el("span", { class: "key-line unpadded" }),
    "Unpadded Size",
  );
}

function summary(model) {
  const { peak_bytes: peak, peak_instruction: instruction } = model.totals;
  const where = `step ${model.peakStep}${instruction ? `, ${instruction}` : ""}`;
  return `Live memory over ${model.steps} steps of the program; the peak is ${formatSize(peak)} at ${where}.`;
}
