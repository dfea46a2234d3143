// @ts-check
// "HLO Ops at Peak Memory Allocation Time", or at any other step: three rows of the same live buffers.
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits, plural } from "../../../base/format.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { instructionOf } from "../data/model.js";
import { sumOf } from "../data/live.js";
import { barIndexAt, layoutBar, orderRows } from "../layout/bars.js";
import { drawBar } from "../draw/bar_painter.js";

const ORDERS = [
  { key: "program", label: "by Program Order" },
  { key: "size", label: "by Buffer Size" },
  { key: "padding", label: "by Padding Size" },
];

export function createBars(state) {
  const heading = document.createTextNode("");
  const facts = el("span", { class: "facts" });
  const back = button("back to peak", () => state.actions.setStep(state.model.peakStep), {
    class: "quiet small",
    id: "back-to-peak",
  });
  const merged = el("span", { class: "aside", id: "bars-merged" });
  const charts = ORDERS.map((order) => createBarRow(state, order));
  const rows = charts.map((chart) => chart.node);
  const node = chartSection(heading, [facts, back, merged], rows, { class: "chart bars" }, { what: "bars" });

  let width = 0;

  /** The width is read before anything is written: after that the browser would have to lay out again. */
  function layout() {
    width = charts[0].width();
    showHead();
    charts.forEach((chart) => chart.layout(width));
    draw();
    const count = Math.max(0, ...charts.map((chart) => chart.merged()));
    setText(merged, count ? `${groupDigits(count)} under a pixel merged` : "");
  }

  function showHead() {
    const { model } = state;
    const { step, rows, unit } = state.get();
    const atPeak = step === model.peakStep;
    setText(heading, atPeak ? "HLO Ops at Peak Memory Allocation Time" : "HLO Ops at the chosen step");
    const name = instructionOf(model, step);
    const where =
      model.steps === 0
        ? "whole program"
        : `step ${groupDigits(step)} of ${groupDigits(model.steps)}${name ? `, ${name}` : ""}`;
    setText(
      facts,
      `${atPeak && model.steps > 0 ? "At peak " : ""}(${where})  ${plural(rows.length + model.uncounted, "buffer")}` +
        (atPeak ? "" : `  ${formatSize(sumOf(model.size, rows), unit)}`), // the headline has the peak's
    );
    back.hidden = atPeak;
  }

  const draw = () => charts.forEach((chart) => chart.draw());
  const resize = () => {
    if (charts[0].width() !== width) layout();
  };
  const dispose = together(
    onResize(node, resize),
    inFrame(state, ["rows", "unit", "step"], layout),
    inFrame(state, ["hover", "pinned", "lit", "groupOf"], draw),
  );
  return { node, start: layout, redraw: draw, dispose };
}

function createBarRow(state, order) {
  const canvas = el("canvas", { class: "bar-canvas", role: "img", data: { order: order.key } });
  const label = el("span", { class: "bar-label" });
  const node = el("div", { class: "bar-row" }, label, canvas);
  let bar = null;

  function layout(width) {
    const rows = orderRows(state.model, state.get().rows, order.key);
    bar = layoutBar(state.model, rows, width);
    const count = rows.length + state.model.uncounted;
    setText(label, `${order.label} (${groupDigits(count)})`);
    canvas.setAttribute(
      "aria-label",
      `${order.label}: ${plural(count, "buffer")}, width to scale. The table below lists them.`,
    );
  }

  function drawOn(surface) {
    const { hover, pinned, lit: flags, groupOf } = state.get();
    drawBar(surface, state.model, bar, { hover, pinned, flags, groupOf, showPadding: order.key === "padding" });
  }

  const draw = () => bar && drawOn(canvas);

  function rowAt(event) {
    const index = bar ? barIndexAt(bar, event.offsetX) : -1;
    return index < 0 || bar.rows[index] === state.model.othersRow ? null : bar.rows[index];
  }

  drawnBy(canvas, drawOn);
  canvas.addEventListener("pointermove", (event) => state.actions.hoverRow(rowAt(event)));
  canvas.addEventListener("pointerleave", () => state.actions.hoverRow(null));
  canvas.addEventListener("click", (event) => {
    const row = rowAt(event);
    if (row !== null) state.actions.pinRow(row);
  });
  return { node, layout, draw, width: () => canvas.clientWidth, merged: () => bar?.merged ?? 0 };
}
