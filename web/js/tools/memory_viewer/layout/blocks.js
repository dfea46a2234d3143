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
 *            indexOfRow: Int32Array}} Blocks  -1 for a row that is no block
 */
import { TEMPORARY } from "../data/categories.js";

/** @returns {Blocks} */
export function buildBlocks(model) {
  const { aliveBegin, aliveEnd, allocation, offset, size } = model;
  const row = temporaryRows(model);
  const count = row.length;
  const lanes = buildLanes(model, row);
  const base = new Map(lanes.map((lane) => [lane.allocation, lane.begin]));
  const [x0, x1, y0, y1] = [0, 1, 2, 3].map(() => new Float64Array(count));
  const indexOfRow = new Int32Array(model.count).fill(-1);
  for (let i = 0; i < count; i += 1) {
    const at = row[i];
    x0[i] = aliveBegin[at];
    x1[i] = Math.max(aliveEnd[at], x0[i]);
    y0[i] = base.get(allocation[at]) + offset[at];
    y1[i] = y0[i] + size[at];
    indexOfRow[at] = i;
  }
  return { count, row, x0, x1, y0, y1, lanes, height: lanes.length ? lanes[lanes.length - 1].end : 0, indexOfRow };
}

/** Temporary rows with bytes; larger first, so that what is drawn later (and found first) is the smaller one. */
function temporaryRows(model) {
  const { bySize, category, size } = model;
  const rows = new Uint32Array(bySize.length);
  let count = 0;
  for (let i = 0; i < bySize.length; i += 1) {
    const row = bySize[i];
    if (category[row] === TEMPORARY && size[row] > 0) rows[count++] = row;
  }
  return rows.slice(0, count);
}

function buildLanes(model, rows) {
  const { allocation, offset, size } = model;
  const sizes = new Map();
  for (let i = 0; i < rows.length; i += 1) {
    const row = rows[i];
    const top = offset[row] + size[row];
    if (!(sizes.get(allocation[row]) >= top)) sizes.set(allocation[row], top);
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
