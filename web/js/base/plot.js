// @ts-check
/**
 * A plot: the part of a canvas that shows a range of x and a range of y, with gutters around it for the axes; and what
 * all charts draw around and over their data. Cursors and marks are told apart from the data by lying on a canvas of
 * their own.
 *
 *     +--------------------------------+ canvas
 *     | left  top                right |     toX, toY: from data to pixels of the canvas
 *     |     +--------------------+     |
 *     |     |  view.x, view.y    |     |
 *     |     +--------------------+     |
 *     |        below                   |
 *     +--------------------------------+
 *
 * @typedef {import("./range.js").Range} Range
 * @typedef {ReturnType<typeof openPlot>} Plot
 */
import { byteLabels, toPixel } from "./axes.js";
import { drawSideways, fitCanvas, labelOnScrap } from "./canvas.js";
import { palette } from "./palette.js";

const PEAK_SIGN = 6;
const MARK_ALPHA = 0.15;
const LABEL_GAP = 6; // between a label and the frame
const TITLE_ROOM = 15; // that a sideways title needs: longer labels take its place
const GRID_ALPHA = 0.12;

/**
 * An empty one.
 * @param {any} canvas
 * @param {{left: number, right: number, top: number, below: number}} gutters
 * @param {{x: Range, y: Range}} view
 */
export function openPlot(canvas, { left, right, top, below }, view) {
  const fitted = fitCanvas(canvas);
  const width = fitted.width - left - right;
  const height = fitted.height - top - below;
  const bottom = top + height;
  return {
    ...{ context: fitted.context, colors: palette(), view, left, top, width, height, bottom, right: left + width },
    toX: (value) => left + toPixel(value, view.x, width),
    toY: (value) => bottom - toPixel(value, view.y, height),
  };
}

/** What `draw` draws stays between the plot's sides, from `top` down. */
export function clipped({ context, left, width, bottom, ...plot }, draw, top = plot.top) {
  context.save();
  context.beginPath();
  context.rect(left, top, width, bottom - top);
  context.clip();
  draw();
  context.restore();
}

/** The plot's frame and its horizontal axis. */
export function drawXAxis({ context, colors, left, top, width, height, bottom, toX }, ticks, textOf, title) {
  context.strokeStyle = colors.line;
  context.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const tick of ticks) {
    context.fillRect(Math.round(toX(tick)), bottom, 1, 4);
    context.fillText(textOf(tick), toX(tick), bottom + 6);
  }
  context.fillText(title, left + width / 2, bottom + 21);
  context.textAlign = "left";
}

/** The axis of bytes at the left, with lines across the plot where `grid` asks for them. */
export function drawByteAxis(plot, unitMode, title, grid = false) {
  const { context, colors, view, left, width, height, toY } = plot;
  const labels = byteLabels(view.y, height, unitMode);
  const room = left - LABEL_GAP - Math.max(0, ...labels.map(({ text }) => context.measureText(text).width));
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { bytes, text } of labels) {
    context.globalAlpha = GRID_ALPHA;
    context.fillStyle = colors.ink;
    if (grid) context.fillRect(left, Math.round(toY(bytes)), width, 1);
    context.globalAlpha = 1;
    context.fillStyle = colors["ink-3"];
    context.fillText(text, left - LABEL_GAP, besideFrame(plot, toY(bytes)));
  }
  if (room >= TITLE_ROOM) drawSideways(context, title, 8, plot.top + height / 2);
  context.textAlign = "left";
}

/** A label's middle that does not reach over the plot's ends. */
export function besideFrame({ top, bottom }, y) {
  return Math.max(top + 4, Math.min(bottom - 4, y));
}

/**
 * A value that holds until the next, as a line; with `fill` also what is below it. Clipped by whoever draws.
 * @param {Plot} plot @param {{x: ArrayLike<number>, y: ArrayLike<number>}} steps
 * @param {{color: string, dash?: number[], fill?: string}} look
 */
export function drawSteps(plot, steps, { color, dash = [], fill }) {
  const { context, right, left, bottom, toX } = plot;
  if (fill) {
    traceSteps(plot, steps);
    context.lineTo(right, bottom);
    context.lineTo(Math.max(left, toX(steps.x[0])), bottom);
    context.fillStyle = fill;
    context.fill();
  }
  traceSteps(plot, steps);
  context.strokeStyle = color;
  context.lineWidth = 1.5;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1;
}

function traceSteps({ context, right, toX, toY }, { x, y }) {
  context.beginPath();
  for (let i = 0; i < x.length; i += 1) {
    if (i > 0) context.lineTo(toX(x[i]), toY(y[i - 1]));
    context.lineTo(toX(x[i]), toY(y[i]));
  }
  if (x.length > 0) context.lineTo(right, toY(y[x.length - 1]));
}

/** A line from top to bottom at a value of x; null for none. */
export function drawCursor({ context, bottom, toX, ...plot }, value, color, thickness, top = plot.top) {
  if (value === null) return;
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.beginPath();
  context.moveTo(toX(value), top);
  context.lineTo(toX(value), bottom);
  context.stroke();
  context.lineWidth = 1;
}

/**
 * What is being marked.
 * @param {Plot} plot
 * @param {{x0: number, x1: number, y0: number, y1: number} | null} mark in pixels of the plot
 */
export function drawMark(plot, mark) {
  if (!mark) return;
  const { context, colors, left, top } = plot;
  context.fillStyle = colors.accent;
  context.globalAlpha = MARK_ALPHA;
  context.fillRect(left + mark.x0, top + mark.y0, mark.x1 - mark.x0, mark.y1 - mark.y0);
  context.globalAlpha = 1;
}

/**
 * A frame within a box of pixels, never too small to see.
 * @param {any} context
 * @param {{x0: number, x1: number, y0: number, y1: number} | null} box
 */
export function drawOutline(context, box, color, thickness) {
  if (!box) return;
  const { x0, x1, y0, y1 } = box;
  const half = thickness / 2;
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.strokeRect(x0 + half, y0 + half, Math.max(1, x1 - x0 - thickness), Math.max(1, y1 - y0 - thickness));
  context.lineWidth = 1;
}

/** Where the tip of a peak's sign stands: with room for the sign above it. */
export function peakY({ top, toY }, bytes) {
  return Math.max(top + PEAK_SIGN + 1, toY(bytes));
}

/** A sign upon the peak, and what it is. */
export function drawPeak(plot, value, bytes, text) {
  const { context, colors, left, right, top, bottom, toX } = plot;
  const [x, y] = [toX(value), peakY(plot, bytes)];
  if (x < left || x > right || y > bottom) return;
  context.fillStyle = colors.ink;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 4, y - PEAK_SIGN);
  context.lineTo(x + 4, y - PEAK_SIGN);
  context.fill();
  const wide = context.measureText(text).width;
  const labelX = x + 10 + wide < right ? x + 8 : x - 8 - wide;
  labelOnScrap(context, text, { x: labelX, y: Math.max(top + 11, y), ink: colors.ink, scrap: colors.bg });
}
