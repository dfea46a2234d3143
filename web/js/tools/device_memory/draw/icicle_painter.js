// @ts-check
// The icicle's pixels. The user's own frames in the accent's hue, those of libraries grey; shades keep neighbours
// apart.
import { fitCanvas, fitText } from "../../../base/canvas.js";
import { mixRgb, palette, rgbOf } from "../../../base/palette.js";
import { isLibrary, nodeLabel } from "../data/model.js";

const FONT = "11px system-ui, sans-serif";
const NAME_MIN_WIDTH = 30;
const GAP_MIN_WIDTH = 3;
const OWN_SHADES = [0.46, 0.54, 0.62];
const LIBRARY_SHADES = [0.66, 0.71, 0.76];
const FADE = 0.72;

/** @param {{hover: number | null, flags: Uint8Array | null}} look */
export function drawIcicle(canvas, model, layout, rowHeight, look) {
  const { context, width, height } = fitCanvas(canvas);
  const colors = palette();
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.textBaseline = "middle";
  for (const rect of layout.rects) drawFrame({ context, colors, model, rowHeight, look }, rect);
  outline(context, layout, look.hover, rowHeight, colors.ink);
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

function outline(context, layout, node, rowHeight, color) {
  const rect = node === null ? null : layout.rects.find((one) => one.node === node);
  if (!rect) return;
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.strokeRect(rect.x0 + 1, rect.row * rowHeight + 1, Math.max(2, rect.x1 - rect.x0 - 2), rowHeight - 3);
}
