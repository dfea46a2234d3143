// @ts-check
// What lies over the curves: the capacity, the peak, the lifetime of the buffer in focus, and the cursors.
import { toPixel } from "../../../base/axes.js";
import { fitCanvas, labelOnScrap } from "../../../base/canvas.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { categoryOf } from "../data/categories.js";

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
  labelOnScrap(context, `capacity ${formatSize(capacity, unit)}`, {
    x: 6,
    y: y - 4,
    ink: colors.danger,
    scrap: colors.bg,
  });
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
  labelOnScrap(context, text, {
    x: fits ? x + 8 : x - 8 - context.measureText(text).width,
    y,
    ink: colors.ink,
    scrap: colors.bg,
  });
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
