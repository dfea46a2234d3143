// @ts-check
// One row of buffers: rectangles to scale, hue by category, tint by who holds them, hatched where bytes are padding.
import { fitCanvas, fitText } from "../../../base/canvas.js";
import { palette, rgbOf } from "../../../base/palette.js";
import { drawOutline } from "../../../base/plot.js";
import { categoryOf } from "../data/categories.js";
import { labelOf } from "../data/labels.js";
import { paddingOf } from "../data/model.js";
import { barIndexOf, dominantCategory, NAME_MIN_WIDTH, runsOf } from "../layout/bars.js";
import { tinted, tintOf } from "./tints.js";

const GAP_MIN_WIDTH = 3;
const FADED = 0.22;

/** @param {{hover: number | null, pinned: number | null, flags: Uint8Array | null,
 *          groupOf: import("../data/labels.js").GroupOfRow | null, showPadding: boolean}} look */
export function drawBar(canvas, model, bar, look) {
  const { context, height } = fitCanvas(canvas);
  const colors = palette();
  context.textBaseline = "middle";
  for (const group of bar.groups) drawGroup({ context, height, colors, model, bar, look }, group);
  context.globalAlpha = 1;
  for (const run of runsOf(bar, look.groupOf)) drawName(context, run.key, run.x0, run.x1 - run.x0, height);
  drawOutline(context, boxOf(bar, look.pinned, height), colors.accent, 3);
  drawOutline(context, boxOf(bar, look.hover, height), colors.ink, 2);
}

function drawGroup({ context, height, colors, model, bar, look }, group) {
  const row = bar.rows[group.first];
  const isOneRow = group.end - group.first === 1;
  const single = isOneRow && row !== model.othersRow;
  const category = single ? model.category[row] : dominantCategory(model, bar, group);
  const width = Math.max(1, group.x1 - group.x0);
  const inner = width >= GAP_MIN_WIDTH ? width - 1 : width;
  context.globalAlpha = (isFaded(bar, group, look.flags) ? FADED : 1) * (single ? 1 : 0.6);
  const holder = single ? (look.groupOf?.of[row] ?? -1) : -1;
  context.fillStyle = `rgb(${tinted(rgbOf(colors[`cat-${categoryOf(category).key}`]), tintOf(holder)).join(" ")})`;
  context.fillRect(group.x0, 0, inner, height);
  if (single && look.showPadding)
    hatchPadding(context, group.x0, inner, height, paddingOf(model, row) / model.size[row], colors);
  const name = isOneRow && width >= NAME_MIN_WIDTH ? labelOf(model, row, look.groupOf) : "";
  if (name) drawName(context, name, group.x0, width, height);
}

function isFaded(bar, group, flags) {
  if (!flags) return false;
  for (let i = group.first; i < group.end; i += 1) if (flags[bar.rows[i]]) return false;
  return true;
}

function drawName(context, name, x, width, height) {
  context.fillStyle = "#14181c";
  const text = fitText(context, name, width - 8);
  if (text) context.fillText(text, x + 4, height / 2 + 0.5);
}

/** The share of the rectangle that is padding, at its foot: its area is the padding's bytes, to scale. */
function hatchPadding(context, x, width, height, share, colors) {
  if (!(share > 0)) return;
  const tall = Math.max(1, share * height);
  context.save();
  context.beginPath();
  context.rect(x, height - tall, width, tall);
  context.clip();
  context.fillStyle = colors.bg;
  context.globalAlpha *= 0.6;
  context.fillRect(x, height - tall, width, tall);
  context.strokeStyle = colors.ink;
  context.globalAlpha *= 0.8;
  context.beginPath();
  for (let at = x - tall - (x % 5); at < x + width; at += 5) {
    context.moveTo(at, height);
    context.lineTo(at + tall, height - tall);
  }
  context.stroke();
  context.restore();
}

function boxOf({ edges, ...bar }, row, height) {
  const index = row === null ? -1 : barIndexOf(bar, row);
  return index < 0 ? null : { x0: edges[index], x1: edges[index + 1], y0: 0, y1: height };
}
