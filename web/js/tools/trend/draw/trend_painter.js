// @ts-check
// A bar for each session, made of the lines that hold most, its total above it as a tick; the jump and the place under
// the mouse over them.
import { fitText, labelOnScrap } from "../../../base/canvas.js";
import { clipped, drawByteAxis, drawOutline, openPlot } from "../../../base/plot.js";
import { range } from "../../../base/range.js";
import { barAt, indexAt, labelledPoints, partsOf } from "../layout/bars.js";

const GUTTERS = { left: 78, right: 24, top: 24, below: 36 };
const HEADROOM = 1.08;
const LABEL_PIXELS = 140;
/** Of the lines in order, then of the rest. */
export const LINE_COLORS = ["over-1", "mem-heap", "over-2", "over-3", "over-5", "over-4"];
export const REST_COLOR = "cat-fragmentation";

/** The point at a place of the canvas; null beside the plot. */
export function pointAtPixel(x, canvasWidth, count) {
  return indexAt(x - GUTTERS.left, count, canvasWidth - GUTTERS.left - GUTTERS.right);
}

/** @param {any} canvas */
export function drawTrend(canvas, { points, jump, unit, marked, chosen }) {
  const most = Math.max(1, ...points.map(({ peak, total }) => Math.max(peak ?? 0, total ?? 0))) * HEADROOM;
  const plot = openPlot(canvas, GUTTERS, { x: range(0, 1), y: range(0, most) });
  drawByteAxis(plot, unit, "Peak", true);
  drawLabels(plot, points);
  clipped(plot, () => points.forEach((point) => drawPoint(plot, point, points.length)));
  for (const [index, color] of [
    [chosen, plot.colors.accent],
    [marked, plot.colors.ink],
  ])
    if (index !== null && index < points.length) drawOutline(plot.context, boxOf(plot, index, points), color, 2);
  if (jump) drawJump(plot, points, jump);
}

function boxOf(plot, index, points) {
  const { x0, x1 } = barAt(index, points.length, plot.width);
  const y = plot.toY(points[index].peak ?? 0);
  return { x0: plot.left + x0 - 2, x1: plot.left + x1 + 2, y0: Math.min(y, plot.bottom - 6) - 2, y1: plot.bottom };
}

function drawPoint({ context, colors, width, left, bottom, toY }, point, count) {
  const { x0, x1, middle } = barAt(point.index, count, width);
  if (point.peak === null) {
    context.fillStyle = point.state === "error" ? colors.danger : colors["ink-3"];
    context.fillRect(Math.round(left + middle) - 2, bottom - 4, 4, 4);
    return;
  }
  for (const { begin, end, line } of partsOf(point)) {
    context.fillStyle = colors[line < 0 ? REST_COLOR : LINE_COLORS[line % LINE_COLORS.length]];
    context.fillRect(left + x0, toY(end), x1 - x0, toY(begin) - toY(end));
  }
  if (point.total === null) return;
  context.fillStyle = colors.ink;
  context.fillRect(left + x0, Math.round(toY(point.total)), x1 - x0, 1);
}

function drawLabels(plot, points) {
  const { context, colors, left, top, width, height, bottom } = plot;
  context.strokeStyle = colors.line;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "center";
  const room = Math.max(LABEL_PIXELS, width / Math.max(1, points.length));
  for (const index of labelledPoints(points.length, width, LABEL_PIXELS)) {
    const { middle } = barAt(index, points.length, width);
    context.fillRect(Math.round(left + middle), bottom, 1, 4);
    context.fillText(fitText(context, points[index].label, room - 10), left + middle, bottom + 6);
  }
  context.fillText("Sessions in order of time", left + width / 2, bottom + 21);
  context.textAlign = "left";
}

/** An arrow from the peak before up to the peak after, and by how much. */
function drawJump(plot, points, { before, after, text }) {
  const { context, colors, left, right, top, width, toY } = plot;
  const { x0: x, middle } = barAt(after, points.length, width);
  const [from, to] = [toY(points[before].peak), toY(points[after].peak)];
  context.fillStyle = colors.danger;
  context.fillRect(left + x - 4, to, 2, Math.max(1, from - to));
  context.beginPath();
  context.moveTo(left + x - 3, to - 1);
  context.lineTo(left + x - 8, to + 7);
  context.lineTo(left + x + 2, to + 7);
  context.fill();
  const wide = context.measureText(text).width;
  const labelX = Math.max(left + 2, Math.min(right - wide - 2, left + middle - wide / 2));
  labelOnScrap(context, text, { x: labelX, y: Math.max(top - 8, to - 8), ink: colors.danger, scrap: colors.bg });
}
