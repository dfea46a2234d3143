// @ts-check
// The icicle's pixels: each frame in its owner's colour, faded where it is not looked for, named where there is room.
import { fitCanvas, fitText } from "./canvas.js";
import { mixRgb, palette, rgbOf } from "./palette.js";
import { drawOutline } from "./plot.js";
import { rectOf } from "./icicle_layout.js";

const NAME_MIN_WIDTH = 30;
const GAP_MIN_WIDTH = 3;
const FADE = 0.72;

/**
 * @typedef {{text: (node: number) => string, color: (node: number, colors: Record<string, string>) => number[],
 *            isFaded: (node: number) => boolean}} Frames `color` as red, green, blue
 * @param {Frames} frames what is drawn of a node; the root, and slivers (-1), are the page's lines
 */
export function drawIcicle(canvas, frames, layout, rowHeight, hover) {
  const { context } = fitCanvas(canvas);
  const colors = palette();
  context.textBaseline = "middle";
  for (const rect of layout.rects) drawFrame({ context, colors, frames, rowHeight }, rect);
  drawOutline(context, boxOf(layout, hover, rowHeight), colors.ink, 2);
}

function drawFrame({ context, colors, frames, rowHeight }, rect) {
  const width = rect.x1 - rect.x0;
  const top = rect.row * rowHeight;
  const inner = width >= GAP_MIN_WIDTH ? width - 1 : width;
  const isFaded = rect.node > 0 && frames.isFaded(rect.node);
  context.fillStyle = rect.node <= 0 ? colors.line : fillOf(frames, rect.node, colors, isFaded);
  context.fillRect(rect.x0, top, Math.max(0.5, inner), rowHeight - 1);
  if (rect.node < 0 || width < NAME_MIN_WIDTH) return;
  context.fillStyle = isFaded ? colors["ink-3"] : colors.ink;
  const text = fitText(context, frames.text(rect.node), width - 8);
  if (text) context.fillText(text, rect.x0 + 4, top + rowHeight / 2);
}

function fillOf(frames, node, colors, isFaded) {
  return `rgb(${mixRgb(frames.color(node, colors), rgbOf(colors.bg), isFaded ? FADE : 0).join(" ")})`;
}

function boxOf(layout, node, rowHeight) {
  const rect = node === null ? null : rectOf(layout, node);
  return rect && { x0: rect.x0, x1: rect.x1, y0: rect.row * rowHeight, y1: (rect.row + 1) * rowHeight - 1 };
}
