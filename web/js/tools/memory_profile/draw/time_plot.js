// @ts-check
// A plot over the axis of time (layout/time_axis.js): its toX takes times; and the signs of what the axis leaves out.
import { labelOnScrap } from "../../../base/canvas.js";
import { openPlot } from "../../../base/plot.js";
import { span } from "../../../base/range.js";
import { formatDuration } from "../../../base/time_text.js";

const TOOTH = 5; // pixels
const ROOM = 4; // beside a label

/** @param {any} canvas @param {any} gutters @param {{x: any, y: any}} view @param {any} axis */
export function openTimePlot(canvas, gutters, view, axis) {
  const plot = openPlot(canvas, gutters, view);
  return { ...plot, axis, toX: (time) => plot.toX(axis.toAxis(time)) };
}

/** A torn strip for each break in view, with how long it is where there is room. */
export function drawBreaks(plot) {
  const { context, colors, axis, left, right, top, bottom, toX } = plot;
  for (const one of axis.breaks) {
    const [x0, x1] = [toX(one.begin), toX(one.end)];
    if (x1 <= left || x0 >= right) continue;
    context.fillStyle = colors.bg;
    context.globalAlpha = 0.6;
    context.fillRect(x0, top, x1 - x0, bottom - top);
    context.globalAlpha = 1;
    context.strokeStyle = colors["ink-3"];
    drawTear(context, x0, top, bottom);
    drawTear(context, x1, top, bottom);
    const text = formatDuration(span(one.silence));
    const wide = context.measureText(text).width;
    if (wide + ROOM > x1 - x0) continue;
    const label = { x: (x0 + x1 - wide) / 2, y: bottom - 6, ink: colors["ink-2"], scrap: colors.bg };
    labelOnScrap(context, text, label);
  }
}

function drawTear(context, x, top, bottom) {
  context.beginPath();
  context.moveTo(x, top);
  for (let y = top, side = 1; y < bottom; y += TOOTH, side = -side)
    context.lineTo(x + (side * TOOTH) / 2, Math.min(bottom, y + TOOTH));
  context.stroke();
}
