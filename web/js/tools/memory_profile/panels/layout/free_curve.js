// @ts-check
/**
 * Free memory and its largest block over a window, as steps to draw. Pure.
 *
 *     free     ____      ______      each step [x0, x1) is one entry of the timeline reply, or the calm after it:
 *                  |____|            within an entry the least of it (a request meets the worst moment), after it
 *     largest  __         ____       what its last event left
 *                |_______|
 *
 * Entries whose allocator told nothing are passed over: what was known before still holds.
 */
import { largestFree } from "../data/pressure.js";

/** @typedef {{x0: number, x1: number, free: number, largest: number | null, isCalm: boolean}} FreeStep */

/** @returns {FreeStep[]} */
export function freeSteps(reply) {
  /** @type {FreeStep[]} */
  const steps = [];
  const told = Array.from(reply.time_ps.keys()).filter((i) => reply.free_last[i] !== null);
  const { before } = reply;
  let held = before && before.free_bytes !== null ? calm(before.free_bytes, before.fragmentation) : null;
  let heldSince = reply.from_ps;
  for (const i of told) {
    const [begin, end] = [reply.time_ps[i], reply.last_time_ps[i]];
    if (held) push(steps, heldSince, begin, held);
    const worst = { free: reply.free_min[i], largest: reply.largest_free_min[i], isCalm: false };
    push(steps, begin, end, worst);
    held = calm(reply.free_last[i], reply.fragmentation_last[i]);
    heldSince = end;
  }
  if (held) push(steps, heldSince, reply.to_ps, held);
  return steps;
}

function calm(free, fragmentation) {
  return { free, largest: largestFree(free, fragmentation), isCalm: true };
}

function push(steps, x0, x1, state) {
  if (x1 > x0) steps.push({ x0, x1, ...state });
}

/** The step that holds a time; null outside. */
export function stepAt(steps, time) {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].x1 <= time) low = middle + 1;
    else high = middle;
  }
  return low < steps.length && steps[low].x0 <= time ? steps[low] : null;
}
