// @ts-check
// Bars of peaks, a line at the median, the one in hand framed. Those that differ have a colour of their own.
import { byteLabels } from "../axes.js";
import { fitCanvas } from "../canvas.js";
import { palette } from "../palette.js";
import { lastLabelEnd } from "./bars.js";

export const GUTTERS = { left: 74, right: 10, top: 8, bottom: 20 };

/**
 * @param {any} canvas
 * @param {{bars: any[], rows: any[], median: number, unit: string, chosen: number | null, hover: number | null}} scene
 */
export function drawBars(canvas, { bars, rows, median, unit, chosen, hover }) {
  const { context, width, height } = fitCanvas(canvas);
  const colors = palette();
  const bottom = height - GUTTERS.bottom;
  const most = Math.max(1, median, ...rows.map((row) => row.peak_bytes));
  const toY = (bytes) => bottom - ((bottom - GUTTERS.top) * bytes) / most;
  const plot = { context, colors, bottom, toY, right: width - GUTTERS.right };
  drawAxis(plot, most, unit);
  for (const bar of bars) {
    const row = rows[bar.at];
    context.fillStyle = row.differs ? colors.danger : colors["over-1"];
    context.globalAlpha = bar.at === hover ? 1 : 0.78;
    const top = Math.min(toY(row.peak_bytes), bottom - 1);
    context.fillRect(GUTTERS.left + bar.x, top, Math.max(1, bar.width), bottom - top);
  }
  context.globalAlpha = 1;
  drawMedian(plot, median);
  for (const [at, color] of [
    [chosen, colors.accent],
    [hover, colors.ink],
  ])
    frame(plot, bars, at, color);
  drawEnds(plot, bars, rows);
}

function drawAxis({ context, colors, toY, right }, most, unit) {
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const { bytes, text } of byteLabels({ begin: 0, end: most }, 120, unit)) {
    context.fillStyle = colors["ink-3"];
    context.fillText(text, GUTTERS.left - 6, toY(bytes));
    context.fillStyle = colors.line;
    context.fillRect(GUTTERS.left, Math.round(toY(bytes)), right - GUTTERS.left, 1);
  }
}

function drawMedian({ context, colors, toY, right }, median) {
  context.strokeStyle = colors["ink-2"];
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(GUTTERS.left, toY(median));
  context.lineTo(right, toY(median));
  context.stroke();
  context.setLineDash([]);
}

/** The bar that row number `at` is in. */
function frame({ context, bottom }, bars, at, color) {
  const bar = at === null ? null : bars.find(({ first, end }) => at >= first && at < end);
  if (!bar) return;
  context.strokeStyle = color;
  const top = GUTTERS.top - 2.5;
  context.strokeRect(GUTTERS.left + bar.x - 0.5, top, Math.max(2, bar.width) + 1, bottom - top + 0.5);
}

function drawEnds({ context, colors, bottom }, bars, rows) {
  if (rows.length === 0) return;
  const [first, last] = [rows[0].host, rows[rows.length - 1].host];
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "left";
  context.fillText(first, GUTTERS.left, bottom + 5);
  if (last === first) return;
  const end = lastLabelEnd(bars, context.measureText(first).width, context.measureText(last).width);
  context.textAlign = "right";
  context.fillText(last, GUTTERS.left + end, bottom + 5);
}
