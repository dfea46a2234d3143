// @ts-check
/**
 * Columns to pixels: stack, heap and free memory upon each other, fragmentation as a dashed line on a scale of its own.
 * Between the lowest and the highest use within a column the heap is paler: it was both. Fragmentation's line is its
 * highest, and what it ranges over is shaded. Pure.
 *
 *     top      .......  free
 *     usedMax  =======  line
 *              -------  paler heap
 *     usedMin  #######  heap
 *     stack    %%%%%%%
 */
import { span } from "../../../base/range.js";

const DASH = 8;
const DASH_ON = 5;

/**
 * @typedef {{width: number, height: number, pixels: Uint32Array, ratio: number}} Target device pixels
 * @typedef {{background: number, stack: number, heap: number, band: number, free: number}} Areas a pixel for each
 * @typedef {{plain: Areas, shaded: Areas, line: number, fragmentation: number}} Inks
 */

/** @param {Target} target @param {Inks} inks */
export function rasterAreas(columns, y, target, inks) {
  const edges = edgesOf(columns, y, target);
  fillAreas(edges, target, inks);
  drawUseLine(edges, target, inks);
  drawFragmentation(edges, target, inks);
}

/** The first pixel row of each layer, from above; `height` where there is none. */
function edgesOf(columns, y, { width, height, ratio }) {
  const toRow = (bytes) =>
    Number.isNaN(bytes) ? height : clamp(Math.round(height * (1 - (bytes - y.begin) / span(y))), 0, height);
  const lowest = height - shareThickness(ratio);
  const toShareRow = (share) => (Number.isNaN(share) ? height : clamp(Math.round(lowest * (1 - share)), 0, lowest));
  const row = () => new Int16Array(width);
  const edges = { top: row(), max: row(), min: row(), stack: row(), shareHigh: row(), shareLow: row() };
  for (let c = 0; c < width; c += 1) {
    edges.max[c] = toRow(columns.usedMax[c]);
    edges.min[c] = toRow(columns.usedMin[c]);
    edges.top[c] = Math.min(toRow(columns.top[c]), edges.max[c]);
    edges.stack[c] = columns.stack[c] > 0 ? Math.max(toRow(columns.stack[c]), edges.max[c]) : height;
    edges.shareHigh[c] = toShareRow(columns.fragmentationMax[c]);
    edges.shareLow[c] = toShareRow(columns.fragmentationMin[c]);
  }
  return { ...edges, known: columns.usedMax };
}

function fillAreas({ top, max, min, stack, shareHigh, shareLow }, { width, height, pixels }, { plain, shaded }) {
  let at = 0;
  for (let row = 0; row < height; row += 1) {
    for (let c = 0; c < width; c += 1) {
      const areas = row >= shareHigh[c] && row < shareLow[c] ? shaded : plain;
      let ink = areas.background;
      if (row >= top[c]) {
        if (row < max[c]) ink = areas.free;
        else if (row >= stack[c]) ink = areas.stack;
        else ink = row >= min[c] ? areas.heap : areas.band;
      }
      pixels[at] = ink;
      at += 1;
    }
  }
}

function drawUseLine({ max, known }, { width, height, pixels, ratio }, { line }) {
  const thick = Math.max(1, Math.round(ratio));
  for (let c = 0; c < width; c += 1) {
    if (Number.isNaN(known[c]) || max[c] === 0) continue; // above this view
    const first = Math.min(max[c], height - thick);
    for (let row = first; row < first + thick; row += 1) pixels[row * width + c] = line;
  }
}

function drawFragmentation({ shareHigh }, { width, height, pixels, ratio }, { fragmentation }) {
  const thick = shareThickness(ratio);
  for (let c = 0; c < width; c += 1) {
    if (shareHigh[c] === height || Math.floor(c / ratio) % DASH >= DASH_ON) continue;
    for (let row = shareHigh[c]; row < shareHigh[c] + thick; row += 1) pixels[row * width + c] = fragmentation;
  }
}

function shareThickness(ratio) {
  return Math.max(1, Math.round(1.5 * ratio));
}

/** Another memory over the first: its highest use as a line, and what it ranges over in a column, see-through. */
export function rasterLine(columns, y, { width, height, pixels, ratio }, { line, blend }) {
  const thick = Math.max(1, Math.round(1.5 * ratio));
  const toRow = (bytes) => Math.round(height * (1 - (bytes - y.begin) / span(y)));
  for (let c = 0; c < width; c += 1) {
    if (Number.isNaN(columns.usedMax[c])) continue;
    const [high, low] = [toRow(columns.usedMax[c]), toRow(columns.usedMin[c])];
    const bandEnd = clamp(low, 0, height);
    for (let row = clamp(high, 0, height); row < bandEnd; row += 1)
      pixels[row * width + c] = blend(pixels[row * width + c]);
    if (high < 0 || high > height) continue;
    const first = Math.min(high, height - thick);
    for (let row = first; row < first + thick; row += 1) pixels[row * width + c] = line;
  }
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}
