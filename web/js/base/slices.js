// @ts-check
// Long work without long frames: a generator that yields now and then is run for a few milliseconds in each frame.
import { requestFrame } from "./frame.js";

const SLICE_MS = 8;

/**
 * What takes less than a slice is done at once. `take` gets what the generator returns.
 * @template T @param {Generator<void, T>} work @param {(value: T) => void} take @returns {() => void} stops it
 */
export function runInSlices(work, take) {
  let stopped = false;
  function slice() {
    const end = performance.now() + SLICE_MS;
    while (!stopped) {
      const { done, value } = work.next();
      if (done) return take(/** @type {T} */ (value));
      if (performance.now() >= end) return requestFrame(slice);
    }
  }
  slice();
  return () => {
    stopped = true;
  };
}
