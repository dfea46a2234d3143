// @ts-check
/**
 * Blocks to pixels. A canvas call per block is too slow for 100 000 of them, so the blocks are written straight into
 * the pixels of an ImageData: blocks of one allocation hardly overlap, so a frame costs the blocks plus the pixels.
 * A block under a pixel gets one; those are counted, so that the page can say it.
 * Pure: typed arrays in, typed arrays out.
 */

/** A block wide and high enough (device pixels) gets an edge, so that neighbours of one colour stay apart. */
const EDGE_MIN_PIXELS = 4;

/**
 * @param {{count: number, x0: Float64Array, x1: Float64Array, y0: Float64Array, y1: Float64Array}} blocks
 * @param {{x: {begin: number, end: number}, y: {begin: number, end: number}}} view
 * @param {{width: number, height: number, pixels: Uint32Array, labelWidth?: number, labelHeight?: number}} target
 * @param {{fill: Uint32Array, edge: Uint32Array, ofBlock: Uint8Array}} styles fill and edge by style, style by block
 * @param {{begin: number, end: number, of?: Uint32Array | null}} part of the blocks, or of a list of them
 * @param {{visible: number, merged: number, large: number[]}} drawn so far; `large`: with room for a label
 */
export function rasterBlocks(blocks, view, target, styles, part = wholeOf(blocks), drawn = nothingDrawn()) {
  const scaleX = target.width / (view.x.end - view.x.begin);
  const scaleY = target.height / (view.y.end - view.y.begin);
  const { labelWidth = Infinity, labelHeight = Infinity } = target;
  let { visible, merged } = drawn;
  const { x0, x1, y0, y1 } = blocks;
  const { width, height, pixels } = target;
  const { fill, edge, ofBlock } = styles;
  const { begin: beginX } = view.x;
  const { begin: beginY } = view.y;
  const { of: list = null } = part;
  for (let at = part.begin; at < part.end; at += 1) {
    const i = list === null ? at : list[at];
    const left = (x0[i] - beginX) * scaleX;
    const right = (x1[i] - beginX) * scaleX;
    if ((right <= 0 && left < 0) || left >= width) continue;
    const top = height - (y1[i] - beginY) * scaleY;
    const bottom = height - (y0[i] - beginY) * scaleY;
    if ((bottom <= 0 && top < 0) || top >= height) continue;
    visible += 1;
    if (right - left < 1 || bottom - top < 1) merged += 1;
    if (bottom - top >= labelHeight && shownLength(left, right, width) >= labelWidth) drawn.large.push(i);
    const style = ofBlock[i];
    const isOnePixel = left >= 0 && top >= 0 && right < (left | 0) + 2 && bottom < (top | 0) + 2;
    if (isOnePixel) pixels[(top | 0) * width + (left | 0)] = fill[style];
    else paintBlock(target, left, right, top, bottom, fill[style], edge[style]);
  }
  return Object.assign(drawn, { visible, merged });
}

const wholeOf = (blocks) => ({ begin: 0, end: blocks.count });
export const nothingDrawn = () => ({ visible: 0, merged: 0, large: /** @type {number[]} */ ([]) });

/** A call of fill costs more than a few stores. */
function fillRun(pixels, color, from, to) {
  if (to - from > 24) pixels.fill(color, from, to);
  else for (let i = from; i < to; i += 1) pixels[i] = color;
}

function shownLength(begin, end, limit) {
  return Math.min(end, limit) - Math.max(begin, 0);
}

function paintBlock(target, left, right, top, bottom, fill, edge) {
  const x0 = Math.max(0, Math.floor(left));
  const x1 = Math.min(target.width, Math.max(Math.floor(right), x0 + 1));
  const y0 = Math.max(0, Math.min(Math.floor(top), target.height - 1));
  const y1 = Math.min(target.height, Math.max(Math.floor(bottom), y0 + 1));
  const { width, pixels } = target;
  const edged = right - left >= EDGE_MIN_PIXELS && bottom - top >= EDGE_MIN_PIXELS;
  for (let y = y0; y < y1; y += 1) fillRun(pixels, fill, y * width + x0, y * width + x1);
  if (!edged) return;
  fillRun(pixels, edge, y0 * width + x0, y0 * width + x1);
  for (let y = y0; y < y1; y += 1) pixels[y * width + x1 - 1] = edge;
}
