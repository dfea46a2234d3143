// @ts-check
/**
 * The buffer allocation timeline: every buffer as a block, program order to the right, bytes upwards, in the lane or
 * the band of its allocation (lanes.js has the picture).
 *
 *     blocks   | of the bands, band by band |  temporary, the largest first  |
 *     bands      first .. end                                                     places in the blocks
 *     byStart    the blocks by where they begin: what lies in a window is found by it (block_index.js)
 *
 * Data space is (position, byte); the painter maps it to pixels. Pure.
 * @typedef {{lane: import("./lanes.js").Lane, first: number, end: number}} Band
 * @typedef {{count: number, row: Uint32Array, x0: Float64Array, x1: Float64Array, y0: Float64Array, y1: Float64Array,
 *            lanes: import("./lanes.js").Lane[], bands: Band[], steps: number, height: number,
 *            indexOfRow: Int32Array}} Blocks  -1 for a row that is no block
 */
import { TEMPORARY } from "../data/categories.js";
import { layOutLanes } from "./lanes.js";

export const NO_BLOCKS = buildBlocks({
  ...{ count: 0, steps: 0, bySize: [], category: [], size: [] },
  allocations: { index: [], size_bytes: [], category: [] },
});

/** @param {any} model @returns {Blocks} */
export function buildBlocks(model) {
  const lanes = layOutLanes(model);
  const bands = bandsOf(lanes);
  const row = rowsOfBlocks(model, bands);
  const count = row.length;
  const [x0, x1, y0, y1] = [0, 1, 2, 3].map(() => new Float64Array(count));
  const extent = { steps: Math.max(1, model.steps), height: lanes.at(-1)?.end ?? 0 };
  const indexOfRow = new Int32Array(model.count).fill(-1);
  const startOf = startOfRows(model, lanes);
  for (let i = 0; i < count; i += 1) {
    const at = row[i];
    x0[i] = model.aliveBegin[at];
    x1[i] = Math.max(model.aliveEnd[at], x0[i]);
    y0[i] = startOf(at);
    y1[i] = y0[i] + model.size[at];
    indexOfRow[at] = i;
  }
  return { count, row, x0, x1, y0, y1, lanes, bands, ...extent, indexOfRow };
}

function bandsOf(lanes) {
  let first = 0;
  return lanes
    .filter((lane) => lane.allocation === null)
    .map((lane) => {
      const band = { lane, first, end: first + lane.count };
      first = band.end;
      return band;
    });
}

/**
 * Rows with bytes: those of the bands as the model has them; temporary ones larger first, so that what is drawn later
 * (and found first) is the smaller one.
 */
function rowsOfBlocks({ count, bySize, category, size }, bands) {
  const rows = new Uint32Array(count);
  const next = new Map(bands.map(({ lane, first }) => [lane.category, first]));
  for (let row = 0; row < count; row += 1) {
    if (category[row] === TEMPORARY || size[row] === 0) continue;
    const place = next.get(category[row]);
    rows[place] = row;
    next.set(category[row], place + 1);
  }
  let end = bands.at(-1)?.end ?? 0;
  for (let i = 0; i < bySize.length; i += 1) {
    const row = bySize[i];
    if (category[row] === TEMPORARY && size[row] > 0) rows[end++] = row;
  }
  return rows.slice(0, end);
}

/** Where the block of a row begins on the axis of bytes; to be asked for the rows of a band in their order. */
function startOfRows({ category, allocation, offset, size }, lanes) {
  const base = new Map(lanes.map((lane) => [lane.allocation, lane.begin]));
  const next = new Map(lanes.map((lane) => [lane.category, lane.begin]));
  return (row) => {
    if (category[row] === TEMPORARY) return base.get(allocation[row]) + offset[row];
    const start = next.get(category[row]);
    next.set(category[row], start + size[row]);
    return start;
  };
}

/**
 * The smallest block at a point of data space. Blocks thinner than a pixel are as thick as one, as they are drawn.
 * @param {Blocks} blocks
 * @param {Iterable<number>} candidates blocks that lie about there (block_index.js)
 * @returns {number} index, or -1
 */
export function blockAt(blocks, candidates, x, y, pixelX, pixelY) {
  let best = -1;
  let bestArea = Infinity;
  const { x0, x1, y0, y1 } = blocks;
  for (const i of candidates) {
    if (x < x0[i] || y < y0[i]) continue;
    if (x >= Math.max(x1[i], x0[i] + pixelX) || y >= Math.max(y1[i], y0[i] + pixelY)) continue;
    const area = (x1[i] - x0[i]) * (y1[i] - y0[i]);
    if (area < bestArea || (area === bestArea && i > best)) [best, bestArea] = [i, area];
  }
  return best;
}

/**
 * The block above (direction 1) or below (-1) another among those live at a step; where there is none to start from,
 * the lowest in sight.
 * @param {Blocks} blocks @param {ArrayLike<number>} live @param {number | null} from
 * @param {{begin: number, end: number}} inSight bytes @returns {number} index, -1 when there is none
 */
export function nextInStack(blocks, live, step, from, direction, inSight) {
  const { x0, x1, y0, y1 } = blocks;
  const isBelow = (a, b) => y0[a] < y0[b] || (y0[a] === y0[b] && a < b);
  let best = -1;
  for (let at = 0; at < live.length; at += 1) {
    const i = live[at];
    if (step < x0[i] || step >= x1[i]) continue;
    const isBeyond = from === null ? y1[i] > inSight.begin : direction > 0 ? isBelow(from, i) : isBelow(i, from);
    if (!isBeyond) continue;
    const isNearer = best < 0 || (from === null || direction > 0 ? isBelow(i, best) : isBelow(best, i));
    if (isNearer) best = i;
  }
  return best;
}
