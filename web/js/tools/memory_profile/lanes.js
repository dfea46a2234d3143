// @ts-check
// The lanes above the plot: steps, and the runs of HLO modules on each device (TPU). They come after the curves.
import { rowsOf } from "../../base/reply_rows.js";
import { bandKey, lanesOf } from "./layout/frame.js";

export function createLanes({ host, fetchSteps, fetchRuns }) {
  let lanes = [];

  async function load() {
    const [steps, runs] = await Promise.all([
      host.steps > 0 ? fetchSteps() : null,
      host.module_runs > 0 ? fetchRuns() : null,
    ]);
    lanes = lanesOf(
      steps ? rowsOf(steps.steps) : [],
      runs ? rowsOf(runs.runs, runs.strings, ["name"]) : [],
      runs?.devices ?? [],
    );
  }

  /** The band after the shown one; without one, the first that begins `from` then on. Modules come before steps. */
  function next(key, delta, from) {
    const lane = lanes.find((one) => one.kind === "modules") ?? lanes[0];
    if (!lane) return null;
    const { bands } = lane;
    const shown = Array.from({ length: bands.count }, (_, i) => bandKey(lane, i)).indexOf(key);
    const first = Math.max(
      0,
      bands.begin.findIndex((begin) => begin >= from),
    );
    const i = shown < 0 ? first : shown + delta;
    if (i < 0 || i >= bands.count) return null;
    return { key: bandKey(lane, i), begin: bands.begin[i], end: bands.end[i] };
  }

  return { get: () => lanes, load, next };
}
