// @ts-check
// Both curves in one plot: A dashed, B drawn out and filled; the cursor over them.
import { clipped, drawByteAxis, drawCursor, drawXAxis, openPlot } from "../../../base/plot.js";
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
  const { context, colors } = plot;
  drawXAxis(plot, TENTHS, (x) => `${100 * x} %`, "Program Order");
  drawByteAxis(plot, unit, "Allocated Heap Size", true);
  clipped(plot, () => {
    trace(plot, b);
    context.lineTo(plot.right, plot.bottom);
    context.lineTo(plot.left, plot.bottom);
    context.fillStyle = colors["curve-fill"];
    context.fill();
    stroke(plot, b, colors.curve, []);
    stroke(plot, a, colors.accent, [5, 3]);
  });
  drawCursor(plot, hover, colors.ink, 1);
}

function trace({ context, toX, toY }, { x, bytes }) {
  context.beginPath();
  x.forEach((one, i) => {
    if (i > 0) context.lineTo(toX(one), toY(bytes[i - 1]));
    context.lineTo(toX(one), toY(bytes[i]));
  });
  context.lineTo(toX(1), toY(bytes.at(-1)));
}

function stroke(plot, curve, color, dash) {
  const { context } = plot;
  trace(plot, curve);
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1;
}
