// @ts-check
// Both curves over relative program order. The mouse, or the arrow keys, say what is live in each at a place.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { formatPercent, formatSize, groupDigits } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { drawCurves, placeOf } from "../draw/curves_painter.js";
import { curveOf, valueAt } from "../layout/curves.js";

const STEP = 0.01;
const SIDEWAYS = { ArrowLeft: -STEP, ArrowRight: STEP };

export function createCurves(state, overviews) {
  const [a, b] = [curveOf(overviews.a), curveOf(overviews.b)];
  const peaks = [a, b].map(({ peakBytes }) => formatSize(peakBytes));
  const label = `Memory over program order: before, peak ${peaks[0]}; after, peak ${peaks[1]}.`;
  const canvas = el("canvas", { class: "compare-canvas", role: "img", tabindex: 0, "aria-label": label });
  const readout = el("span", { class: "readout", "aria-live": "off" });
  const key = el(
    "span",
    { class: "curve-key" },
    el("span", { class: "key-line unpadded" }),
    "before",
    el("span", { class: "key-line padded" }),
    "after",
  );
  const title = "Memory Allocation Size vs Program Order";
  const node = chartSection(title, [key, readout], [canvas], {}, { what: "curves" });

  function draw() {
    const { hover, unit } = state.get();
    drawOn(canvas);
    setText(readout, hover === null ? "" : textAt(hover, unit));
  }

  const drawOn = (surface) => drawCurves(surface, { a, b, unit: state.get().unit, hover: state.get().hover });
  drawnBy(canvas, drawOn);

  function textAt(x, unit) {
    const side = (curve) => {
      const { bytes, step } = valueAt(curve, x);
      return `${formatSize(bytes, unit)} (step ${groupDigits(step)})`;
    };
    return `at ${formatPercent(x, 0)}:  ${side(a)} → ${side(b)}`;
  }

  canvas.addEventListener("pointermove", (event) => state.actions.hoverAt(placeOf(event.offsetX, canvas.clientWidth)));
  canvas.addEventListener("pointerleave", () => state.actions.hoverAt(null));
  canvas.addEventListener("blur", () => state.actions.hoverAt(null));
  canvas.addEventListener("keydown", (event) => {
    const by = SIDEWAYS[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    state.actions.hoverAt(Math.max(0, Math.min(1, (state.get().hover ?? b.peakX) + by)));
  });

  const dispose = together(inFrame(state, ["hover", "unit"], draw), onResize(canvas, draw));
  return { node, start: () => requestFrame(draw), redraw: draw, dispose };
}
