// @ts-check
// The bars, what the mouse or the arrow keys say of one of them, and which line has which colour.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { formatSize } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { neighbour, pointAt } from "../data/points.js";
import { drawTrend, LINE_COLORS, pointAtPixel, REST_COLOR } from "../draw/trend_painter.js";

const SIDEWAYS = { ArrowLeft: -1, ArrowRight: 1 };

/** @param {any} state @param {{open: () => void}} actions Enter and a double click on the chosen point */
export function createChart(state, { open }) {
  let points = [];
  let reply = /** @type {any} */ (null);
  const canvas = el("canvas", { class: "trend-canvas", role: "img", tabindex: 0 });
  const readout = el("span", { class: "readout", "aria-live": "polite" });
  const legend = el("ul", { class: "trend-legend", "aria-label": "lines" });
  const title = "Peak of each session, by who holds it";
  const node = chartSection(title, [readout], [canvas, legend], {}, { what: "trend" });

  const drawOn = (surface) => {
    const { hover, unit, chosen } = state.get();
    const jump = reply.jump && {
      before: reply.jump.before.point,
      after: reply.jump.after.point,
      text: `+${formatSize(reply.jump.peak_delta_bytes, unit)}`,
    };
    drawTrend(surface, { points, jump, unit, marked: hover, chosen: pointAt(points, chosen)?.index ?? null });
  };
  drawnBy(canvas, drawOn);

  function draw() {
    if (!reply) return;
    const { hover, chosen, unit } = state.get();
    const told = hover === null ? pointAt(points, chosen) : points[hover];
    drawOn(canvas);
    setText(readout, told ? pointText(told, unit) : "");
  }

  function show(nextReply, nextPoints) {
    [reply, points] = [nextReply, nextPoints];
    legend.replaceChildren(
      ...reply.lines.key.map((key, i) => entry(key, LINE_COLORS[i % LINE_COLORS.length])),
      entry("the rest", REST_COLOR),
      ...(reply.tool === "memory_viewer" ? [el("li", { class: "trend-total" }, "total allocated")] : []),
    );
    canvas.setAttribute("aria-label", `${reply.subject}: peak of ${reply.ready} sessions. ${reply.jump?.text ?? ""}`);
    requestFrame(draw);
  }

  const at = (event) => pointAtPixel(event.offsetX, canvas.clientWidth, points.length);
  canvas.addEventListener("pointermove", (event) => state.actions.hoverAt(at(event)));
  canvas.addEventListener("pointerleave", () => state.actions.hoverAt(null));
  canvas.addEventListener("click", (event) => {
    const index = at(event);
    state.actions.choose(index === null ? null : points[index].id);
  });
  canvas.addEventListener("dblclick", open);
  canvas.addEventListener("keydown", (event) => {
    const by = SIDEWAYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    state.actions.choose(neighbour(points, pointAt(points, state.get().chosen), by)?.id ?? null);
  });

  const dispose = together(inFrame(state, ["hover", "chosen", "unit"], draw), onResize(canvas, draw));
  return { node, show, redraw: draw, dispose };
}

function pointText(point, unit) {
  if (point.peak === null) return `${point.label}: ${point.reason}`;
  const delta = point.delta ? `, ${point.delta > 0 ? "+" : "\u2212"}${formatSize(Math.abs(point.delta), unit)}` : "";
  const total = point.total === null ? "" : `, total ${formatSize(point.total, unit)}`;
  return `${point.label}: peak ${formatSize(point.peak, unit)}${delta}${total}`;
}

function entry(text, color) {
  const sign = el("span", { class: "trend-sign", "aria-hidden": "true" });
  sign.style.background = `var(--${color})`;
  return el("li", {}, sign, text);
}
