// @ts-check
/**
 * The buffer allocation timeline: every temporary buffer as a block, program order to the right, offset upwards.
 * Several temporary allocations stand on top of each other, each a lane.
 *
 *     y ^   lane 2 |      [ d ]            |
 *       |   lane 1 | [ a ][   c      ]     |
 *       |          | [    b    ]           |
 *       +----------------------------------> program order
 *
 * Data space is (position, byte); the painter maps it to pixels. Pure.
 * @typedef {{count: number, row: Uint32Array, x0: Float64Array, x1: Float64Array, y0: Float64Array, y1: Float64Array,
 *            lanes: {allocation: number, begin: number, end: number}[], height: number,
 *            indexOfRow: Map<number, number>}} Blocks
 */
import { TEMPORARY } from "../data/categories.js";

/** @returns {Blocks} */
export function buildBlocks(model) {
  const rows = temporaryRows(model);
  const lanes = buildLanes(model, rows);
  const base = new Map(lanes.map((lane) => [lane.allocation, lane.begin]));
  const bottom = (row) => base.get(model.allocation[row]) + model.offset[row];
  return {
    count: rows.length,
    row: rows,
    x0: Float64Array.from(rows, (row) => model.aliveBegin[row]),
    x1: Float64Array.from(rows, (row) => Math.max(model.aliveEnd[row], model.aliveBegin[row])),
    y0: Float64Array.from(rows, bottom),
    y1: Float64Array.from(rows, (row) => bottom(row) + model.size[row]),
    lanes,
    height: lanes.length ? lanes[lanes.length - 1].end : 0,
    indexOfRow: new Map(Array.from(rows, (row, i) => [row, i])),
  };
}

/** Temporary rows with bytes; larger first, so that what is drawn later (and found first) is the smaller one. */
function temporaryRows(model) {
  const rows = [];
  for (let row = 0; row < model.count; row += 1) {
    if (model.category[row] === TEMPORARY && model.size[row] > 0) rows.push(row);
  }
  return Uint32Array.from(rows).sort((a, b) => model.size[b] - model.size[a] || a - b);
}

function buildLanes(model, rows) {
  const sizes = new Map();
  for (const row of rows) {
    const top = model.offset[row] + model.size[row];
    sizes.set(model.allocation[row], Math.max(sizes.get(model.allocation[row]) ?? 0, top));
  }
  model.allocations.index.forEach((index, i) => {
    if (sizes.has(index)) sizes.set(index, Math.max(sizes.get(index), model.allocations.size_bytes[i]));
  });
  let begin = 0;
  return [...sizes]
    .sort((a, b) => a[0] - b[0])
    .map(([allocation, size]) => {
      const lane = { allocation, begin, end: begin + size };
      begin += size;
      return lane;
    });
}

/**
 * The smallest block at a point of data space. Blocks thinner than a pixel are as thick as one, as they are drawn.
 * @returns {number} index, or -1
 */
export function blockAt(blocks, x, y, pixelX, pixelY) {
  let best = -1;
  let bestArea = Infinity;
  const { x0, x1, y0, y1 } = blocks;
  for (let i = 0; i < blocks.count; i += 1) {
    if (x < x0[i] || y < y0[i]) continue;
    if (x >= Math.max(x1[i], x0[i] + pixelX) || y >= Math.max(y1[i], y0[i] + pixelY)) continue;
    const area = (x1[i] - x0[i]) * (y1[i] - y0[i]);
    if (area <= bestArea) [best, bestArea] = [i, area];
  }
  return best;
}
