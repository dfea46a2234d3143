// @ts-check
// What lies over the curves: the capacity, the peak, the lifetime of the buffer in focus, and the cursors.
import { labelOnScrap } from "../../../base/canvas.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { drawCursor, drawMark, drawPeak, openPlot } from "../../../base/plot.js";
import { categoryOf } from "../data/categories.js";

const NO_GUTTERS = { left: 0, right: 0, top: 0, below: 0 };

/** `band` are the points of what a group holds (layout/curve_samples.js), null for none. */
export function drawCurveOverlay(canvas, { state, view, mark, band }) {
  const { model } = state;
  const { step, hoverStep, unit, capacity } = state.get();
  const plot = openPlot(canvas, NO_GUTTERS, view);
  if (band) drawBand(plot, band);
  drawLifetime(plot, state);
  if (capacity !== null && capacity <= view.y.end) drawCapacity(plot, capacity, unit);
  const peak = model.totals.peak_bytes;
  drawPeak(plot, model.peakStep + 0.5, peak, `peak, step ${groupDigits(model.peakStep)}`);
  drawCursor(plot, step + 0.5, plot.colors.accent, 1.5);
  drawCursor(plot, hoverStep === null ? null : hoverStep + 0.5, plot.colors["ink-2"], 1);
  drawMark(plot, mark);
}

/** From the foot of the plot up to what the group holds at each step. */
function drawBand({ context, height, toX, toY, colors }, [steps, , bytes]) {
  context.beginPath();
  context.moveTo(toX(steps[0]), height);
  for (let i = 0; i + 1 < steps.length; i += 1) {
    context.lineTo(toX(steps[i]), toY(bytes[i]));
    context.lineTo(toX(steps[i + 1]), toY(bytes[i]));
  }
  context.lineTo(toX(steps[steps.length - 1]), height);
  context.closePath();
  context.globalAlpha = 0.4;
  context.fillStyle = colors.accent;
  context.fill();
  context.globalAlpha = 1;
}

/** From alloc to free, as high as the buffer is large, but never too thin to see. */
function drawLifetime({ context, height, toX, toY, colors }, state) {
  const row = state.focusRow();
  if (row === null) return;
  const { model } = state;
  const left = toX(model.aliveBegin[row]);
  const wide = Math.max(3, toX(model.aliveEnd[row]) - left);
  const top = Math.min(toY(model.size[row]), height - 6);
  const color = colors[`cat-${categoryOf(model.category[row]).key}`];
  context.globalAlpha = 0.55;
  context.fillStyle = color;
  context.fillRect(left, top, wide, height - top);
  context.globalAlpha = 1;
  context.strokeStyle = state.get().hover === null ? colors.accent : colors.ink;
  context.strokeRect(left + 0.5, top + 0.5, wide - 1, height - top);
}

function drawCapacity({ context, width, toY, colors }, capacity, unit) {
  const y = Math.round(toY(capacity)) + 0.5;
  context.strokeStyle = colors.danger;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
  const text = `capacity ${formatSize(capacity, unit)}`;
  labelOnScrap(context, text, { x: 6, y: y - 4, ink: colors.danger, scrap: colors.bg });
}
