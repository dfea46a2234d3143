// @ts-check
/**
 * Two curves over relative program order: of programs of any length, both from 0 to 1. Pure.
 *
 *     A  570 steps  |....peak...........|
 *     B  386 steps  |..peak.............|
 */

/**
 * @typedef {{steps: number, x: number[], bytes: number[], peakX: number, peakBytes: number}} Curve `x` ascends from 0
 *     to 1, each value holds until the next
 */

/** @param {any} overview the reply of /memory_view/overview @returns {Curve} */
export function curveOf({ program, totals }) {
  const { steps, step, heap_bytes: bytes } = program;
  const last = Math.max(1, steps);
  if (steps === 0) {
    const whole = totals.peak_bytes;
    return { steps, x: [0, 1], bytes: [whole, whole], peakX: 0, peakBytes: whole };
  }
  return {
    steps,
    x: step.map((one) => Math.min(1, one / last)),
    bytes: [...bytes],
    peakX: Math.min(1, (totals.peak_position + 1) / last),
    peakBytes: totals.peak_bytes,
  };
}

/** What is live at a place from 0 to 1, and at which step that is. @param {Curve} curve */
export function valueAt(curve, x) {
  let low = 0;
  let high = curve.x.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (curve.x[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return { bytes: curve.bytes[low], step: Math.min(Math.max(0, curve.steps - 1), Math.floor(x * curve.steps)) };
}
