// @ts-check
// The icicle's pixels. The user's own frames in the accent's hue, those of libraries grey; shades keep neighbours
// apart.
import { fitCanvas, fitText } from "../../../base/canvas.js";
import { mixRgb, palette, rgbOf } from "../../../base/palette.js";
import { drawOutline } from "../../../base/plot.js";
import { isLibrary, nodeLabel } from "../data/model.js";
import { rectOf } from "../layout/icicle.js";

const NAME_MIN_WIDTH = 30;
const GAP_MIN_WIDTH = 3;
const OWN_SHADES = [0.46, 0.54, 0.62];
const LIBRARY_SHADES = [0.66, 0.71, 0.76];
const FADE = 0.72;

/** @param {{hover: number | null, flags: Uint8Array | null}} look */
export function drawIcicle(canvas, model, layout, rowHeight, look) {
  const { context } = fitCanvas(canvas);
  const colors = palette();
  context.textBaseline = "middle";
  for (const rect of layout.rects) drawFrame({ context, colors, model, rowHeight, look }, rect);
  drawOutline(context, boxOf(layout, look.hover, rowHeight), colors.ink, 2);
}

function drawFrame({ context, colors, model, rowHeight, look }, rect) {
  const width = rect.x1 - rect.x0;
  const top = rect.row * rowHeight;
  const inner = width >= GAP_MIN_WIDTH ? width - 1 : width;
  const faded = rect.node > 0 && look.flags !== null && look.flags[model.functionOf[rect.node]] === 0;
  context.fillStyle = fillOf(model, rect.node, colors, faded);
  context.fillRect(rect.x0, top, Math.max(0.5, inner), rowHeight - 1);
  if (rect.node < 0 || width < NAME_MIN_WIDTH) return;
  context.fillStyle = faded ? colors["ink-3"] : colors.ink;
  const text = fitText(context, nodeLabel(model, rect.node), width - 8);
  if (text) context.fillText(text, rect.x0 + 4, top + rowHeight / 2);
}

function fillOf(model, node, colors, faded) {
  const background = rgbOf(colors.bg);
  if (node <= 0) return colors.line; // everything, and slivers
  const fn = model.functionOf[node];
  const library = isLibrary(model, fn);
  const shades = library ? LIBRARY_SHADES : OWN_SHADES;
  const shade = mixRgb(rgbOf(library ? colors["ink-3"] : colors.accent), background, shades[fn % shades.length]);
  return `rgb(${mixRgb(shade, background, faded ? FADE : 0).join(" ")})`;
}

function boxOf(layout, node, rowHeight) {
  const rect = node === null ? null : rectOf(layout, node);
  return rect && { x0: rect.x0, x1: rect.x1, y0: rect.row * rowHeight, y1: (rect.row + 1) * rowHeight - 1 };
}
