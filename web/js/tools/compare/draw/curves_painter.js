// @ts-check
// Both curves in one plot: A dashed, B drawn out and filled; the cursor over them.
import { clipped, drawByteAxis, drawCursor, drawSteps, drawXAxis, openPlot } from "../../../base/plot.js";
import { range } from "../../../base/range.js";

const GUTTERS = { left: 78, right: 24, top: 12, below: 36 };
const TENTHS = [0, 0.25, 0.5, 0.75, 1];
const HEADROOM = 1.08;

/** The plot's place in the canvas, for the mouse. */
export function placeOf(x, width) {
  const room = Math.max(1, width - GUTTERS.left - GUTTERS.right);
  return Math.max(0, Math.min(1, (x - GUTTERS.left) / room));
}

/** Curves of layout/curves.js. */
export function drawCurves(canvas, { a, b, unit, hover }) {
  const most = Math.max(1, a.peakBytes, b.peakBytes) * HEADROOM;
  const plot = openPlot(canvas, GUTTERS, { x: range(0, 1), y: range(0, most) });
  const { colors } = plot;
  drawXAxis(plot, TENTHS, (x) => `${100 * x} %`, "Program Order");
  drawByteAxis(plot, unit, "Allocated Heap Size", true);
  clipped(plot, () => {
    drawSteps(plot, { x: b.x, y: b.bytes }, { color: colors.curve, fill: colors["curve-fill"] });
    drawSteps(plot, { x: a.x, y: a.bytes }, { color: colors.accent, dash: [5, 3] });
  });
  drawCursor(plot, hover, colors.ink, 1);
}
