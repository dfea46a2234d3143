// @ts-check
/**
 * How the allocations of a memory space share the timeline's axis of bytes: one stands on the other, so that the axis
 * ends at what all of them take (total_allocation_bytes), and every byte of it is drawn.
 *
 *     y ^ 17.25 GiB  constants     [===============]    bands: allocations that live for the whole program, one band a
 *       |            outputs       [===============]    category, in it one allocation on the other as the model has
 *       |            donated       [===============]    them. What is above or below means nothing there.
 *       |            parameters    [===============]
 *       |            allocation 7  |      [ d ]    |    lanes: a temporary allocation each, its buffers at their
 *       |        0   allocation 3  | [ a ][   c   ]|    offsets in it. The first lane begins at 0, so that the axis
 *       +----------------------------------------->     tells its offsets as they are.
 *
 * A lane that no heap simulation tells about has no buffers: what lies where in it is unknown, not free. Thread-local
 * allocations are in no total and have no place here.
 * @typedef {{category: number, key: string, allocation: number | null, begin: number, end: number, count: number}} Lane
 *     of bytes; `key` of its category; `allocation` is null for a band; `count` of its buffers
 */
import { CATEGORIES, TEMPORARY, categoryOf } from "../data/categories.js";

/** @param {any} model @returns {Lane[]} from the ground up */
export function layOutLanes(model) {
  const lanes = [];
  let begin = 0;
  for (const { size, ...lane } of [...temporaryLanes(model), ...bands(model)]) {
    lanes.push({ ...lane, key: categoryOf(lane.category).key, begin, end: begin + size });
    begin += size;
  }
  return lanes;
}

/** As large as the allocation, or as what lies in it: a damaged file may say that this is more. */
function temporaryLanes({ count, category, allocation, offset, size, allocations }) {
  const lanes = new Map();
  const laneOf = (index) => {
    if (!lanes.has(index)) lanes.set(index, { category: TEMPORARY, allocation: index, count: 0, size: 0 });
    return lanes.get(index);
  };
  allocations.index.forEach((index, i) => {
    if (allocations.category[i] === TEMPORARY) laneOf(index).size = allocations.size_bytes[i];
  });
  let lane = null;
  for (let row = 0; row < count; row += 1) {
    if (category[row] !== TEMPORARY || size[row] === 0) continue;
    if (lane?.allocation !== allocation[row]) lane = laneOf(allocation[row]);
    lane.count += 1;
    lane.size = Math.max(lane.size, offset[row] + size[row]);
  }
  return [...lanes.values()].filter((one) => one.size > 0).sort((a, b) => a.allocation - b.allocation);
}

function bands({ count, category, size }) {
  const all = CATEGORIES.map((_, number) => ({ category: number, allocation: null, count: 0, size: 0 }));
  for (let row = 0; row < count; row += 1) {
    if (category[row] === TEMPORARY || size[row] === 0) continue;
    all[category[row]].count += 1;
    all[category[row]].size += size[row];
  }
  return all.filter((band) => band.count > 0);
}

/** @param {Lane[]} lanes @returns {Lane | null} the one at a place of the axis */
export function laneAt(lanes, y) {
  return lanes.find((lane) => y >= lane.begin && y < lane.end) ?? null;
}

/** Something of one category, from its first byte to its last; null where there is none. @param {Lane[]} lanes */
export function extentOf(lanes, category) {
  const own = lanes.filter((lane) => lane.category === category);
  return own.length === 0 ? null : { begin: own[0].begin, end: own[own.length - 1].end };
}
