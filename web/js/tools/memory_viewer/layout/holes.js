// @ts-check
/**
 * What is free inside the temporary allocations at a step: the stretches of a lane (lanes.js) that no live buffer lies
 * in. Buffers that share bytes count once.
 *
 *     lane   |aaaa|    |bbbbb|      |ccc|          live at the step
 *            |bb  |                                shares bytes with a
 *     holes       [    )     [      )   [  )       half-open, on the axis of bytes
 *
 *     bytes in use + free bytes = the bytes of the allocation, at every step
 *
 * Of a lane without a simulation nothing is known: it has no holes. Pure.
 * @typedef {{begin: number, end: number}} Hole
 * @typedef {{lane: import("./lanes.js").Lane, holes: Hole[], freeBytes: number, largest: Hole | null}} LaneHoles
 */

/**
 * @param {import("./blocks.js").Blocks} blocks
 * @param {ArrayLike<number>} live blocks that are live at the step, perhaps among others
 * @returns {LaneHoles[]} of each lane that has buffers at all, from the ground up
 */
export function holesAt(blocks, live, step) {
  return blocks.lanes
    .filter((lane) => lane.allocation !== null && lane.count > 0)
    .map((lane) => {
      const holes = holesOf(lane, edgesWithin(blocks, live, step, lane));
      const freeBytes = holes.reduce((sum, hole) => sum + bytesOf(hole), 0);
      const largest = holes.reduce((best, one) => (best && bytesOf(best) >= bytesOf(one) ? best : one), null);
      return { lane, holes, freeBytes, largest };
    });
}

export const bytesOf = ({ begin, end }) => end - begin;

/** Where the live blocks of a lane begin, and where they end, each in order. Numbers alone are sorted fast. */
function edgesWithin({ x0, x1, y0, y1 }, live, step, lane) {
  const begins = new Float64Array(live.length);
  const ends = new Float64Array(live.length);
  let count = 0;
  for (let at = 0; at < live.length; at += 1) {
    const i = live[at];
    if (step < x0[i] || step >= x1[i] || y0[i] < lane.begin || y0[i] >= lane.end) continue;
    begins[count] = y0[i];
    ends[count] = y1[i];
    count += 1;
  }
  return { begins: begins.subarray(0, count).sort(), ends: ends.subarray(0, count).sort() };
}

/** As many blocks have ended as have begun: nobody is there until the next begins. */
function holesOf(lane, { begins, ends }) {
  /** @type {Hole[]} */
  const holes = [];
  const add = (begin, end) => end > begin && holes.push({ begin, end });
  add(lane.begin, begins[0] ?? lane.end);
  for (let i = 0; i < ends.length; i += 1) add(ends[i], begins[i + 1] ?? lane.end);
  return holes;
}

/** Of all lanes together. @param {LaneHoles[]} lanes */
export function sumOfHoles(lanes) {
  const freeBytes = lanes.reduce((sum, one) => sum + one.freeBytes, 0);
  const count = lanes.reduce((sum, one) => sum + one.holes.length, 0);
  const bytes = lanes.reduce((sum, { lane }) => sum + bytesOf(lane), 0);
  const best = lanes.reduce(
    (most, { lane, largest }) =>
      largest && (!most || bytesOf(largest) > bytesOf(most.hole)) ? { lane, hole: largest } : most,
    /** @type {{lane: any, hole: Hole} | null} */ (null),
  );
  return { bytes, freeBytes, count, largest: best };
}
