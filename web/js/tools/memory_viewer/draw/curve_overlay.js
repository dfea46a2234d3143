// @ts-check
// What lies over the curves: the capacity, the peak, the lifetime of the buffer in focus, and the cursors.
import { fitCanvas } from "../../../base/canvas.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { categoryOf } from "../data/categories.js";
import { toPixel } from "../layout/axes.js";

const FONT = "11px system-ui, sans-serif";

export function drawCurveOverlay(canvas, { state, x, yMax, mark }) {
  const { context, width, height } = fitCanvas(canvas);
  const place = {
    context,
    width,
    height,
    toX: (step) => toPixel(step, x, width),
    toY: (bytes) => height - (bytes / yMax) * height,
    colors: palette(),
  };
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  drawLifetime(place, state);
  drawCapacity(place, state.get(), yMax);
  drawPeak(place, state);
  drawCursor(place, state.get().step, place.colors.accent, 1.5);
  if (state.get().hoverStep !== null) drawCursor(place, state.get().hoverStep, place.colors["ink-2"], 1);
  if (mark) drawMark(place, mark);
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

function drawCapacity({ context, width, toY, colors }, { capacity, unit }, yMax) {
  if (capacity === null || capacity > yMax) return;
  const y = Math.round(toY(capacity)) + 0.5;
  context.strokeStyle = colors.danger;
  context.setLineDash([6, 4]);
  context.beginPath();
  context.moveTo(0, y);
  context.lineTo(width, y);
  context.stroke();
  context.setLineDash([]);
  label({ context, colors }, `capacity ${formatSize(capacity, unit)}`, 6, y - 4, colors.danger);
}

function drawPeak({ context, width, toX, toY, colors }, state) {
  const { model } = state;
  const x = toX(model.peakStep + 0.5);
  const y = toY(model.totals.peak_bytes);
  if (x < 0 || x > width) return;
  context.fillStyle = colors.ink;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 4, y - 6);
  context.lineTo(x + 4, y - 6);
  context.fill();
  const text = `peak ${formatSize(model.totals.peak_bytes, state.get().unit)}, step ${groupDigits(model.peakStep)}`;
  const fits = x + 10 + context.measureText(text).width < width;
  label({ context, colors }, text, fits ? x + 8 : x - 8 - context.measureText(text).width, y, colors.ink);
}

/** Text on a scrap of background, so that lines behind it do not cross it. */
function label({ context, colors }, text, x, y, color) {
  const baseline = Math.max(10, y);
  context.fillStyle = colors.bg;
  context.globalAlpha = 0.8;
  context.fillRect(x - 2, baseline - 10, context.measureText(text).width + 4, 13);
  context.globalAlpha = 1;
  context.fillStyle = color;
  context.fillText(text, x, baseline);
}

function drawCursor({ context, width, height, toX }, step, color, thickness) {
  const x = toX(step + 0.5);
  if (x < 0 || x > width) return;
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, height);
  context.stroke();
  context.lineWidth = 1;
}

function drawMark({ context, height, colors }, { x0, x1 }) {
  context.fillStyle = colors.accent;
  context.globalAlpha = 0.15;
  context.fillRect(x0, 0, x1 - x0, height);
  context.globalAlpha = 1;
}
