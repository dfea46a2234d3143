// @ts-check
// The plot of the timeline as paths, for a picture of vectors: what layout/area_raster.js makes of pixels, a step for
// each pixel column.
import { fitCanvas } from "../../../base/canvas.js";
import { palette } from "../../../base/palette.js";
import { span } from "../../../base/range.js";
import { createColumns, fillColumns } from "../layout/columns.js";

const BAND_ALPHA = 0.55;
const OVER_ALPHA = 0.3;

/** The painter's scene. @param {any} surface @param {any} scene */
export function drawAreas(surface, { curves, over, view, axis, overColors }) {
  const { context, width, height } = fitCanvas(surface);
  const colors = palette();
  const columns = fillColumns(createColumns(Math.max(1, Math.round(width))), curves, view.x, axis);
  const toY = (bytes) => Math.max(0, Math.min(height, height * (1 - (bytes - view.y.begin) / span(view.y))));
  const at = (fact) => (c) => toY(columns[fact][c]);
  const plot = { context, columns, floor: () => height };
  fillBetween(plot, at("top"), at("usedMax"), colors["mem-free"]);
  fillBetween(plot, at("usedMax"), at("usedMin"), colors["mem-heap"], BAND_ALPHA);
  fillBetween(plot, at("usedMin"), at("stack"), colors["mem-heap"]);
  fillBetween(plot, at("stack"), plot.floor, colors["mem-stack"]);
  strokeAlong(plot, at("usedMax"), colors["mem-line"]);
  strokeAlong(plot, (c) => height * (1 - columns.fragmentationMax[c]), colors["mem-fragmentation"], [5, 3]);
  over.forEach((one, i) => {
    fillColumns(columns, one, view.x, axis);
    drawOther(plot, at, colors[`over-${(i % overColors) + 1}`]);
  });
}

/** Another memory over the first. */
function drawOther(plot, at, color) {
  fillBetween(plot, at("usedMax"), at("usedMin"), color, OVER_ALPHA);
  strokeAlong(plot, at("usedMax"), color);
}

/** Runs of columns for which both edges are known. @returns {[number, number][]} half open */
function knownRuns(count, isKnown) {
  /** @type {[number, number][]} */
  const runs = [];
  for (let c = 0; c < count; c += 1) {
    const last = runs.at(-1);
    if (!isKnown(c)) continue;
    if (last && last[1] === c) last[1] = c + 1;
    else runs.push([c, c + 1]);
  }
  return runs;
}

function fillBetween({ context, columns }, upper, lower, color, alpha = 1) {
  context.beginPath();
  const isKnown = (c) => !Number.isNaN(upper(c)) && !Number.isNaN(lower(c));
  for (const [begin, end] of knownRuns(columns.count, isKnown)) {
    context.moveTo(begin, upper(begin));
    for (let c = begin; c < end; c += 1) step(context, c, upper(c), c + 1);
    for (let c = end - 1; c >= begin; c -= 1) step(context, c + 1, lower(c), c);
    context.closePath();
  }
  context.fillStyle = color;
  context.globalAlpha = alpha;
  context.fill();
  context.globalAlpha = 1;
}

function strokeAlong({ context, columns }, at, color, dash = []) {
  context.beginPath();
  for (const [begin, end] of knownRuns(columns.count, (c) => !Number.isNaN(at(c)))) {
    context.moveTo(begin, at(begin));
    for (let c = begin; c < end; c += 1) step(context, c, at(c), c + 1);
  }
  context.strokeStyle = color;
  context.setLineDash(dash);
  context.stroke();
  context.setLineDash([]);
}

function step(context, from, y, to) {
  context.lineTo(from, y);
  context.lineTo(to, y);
}
