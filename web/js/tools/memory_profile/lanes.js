// @ts-check
// The lanes above the plot: steps, and the runs of HLO modules on each device (TPU). They come after the curves.
import { bandKey, bandsOf, lanesOf } from "./layout/frame.js";

const NO_STEPS = bandsOf([]);

export function createLanes({ host, fetchSteps, fetchRuns }) {
  let lanes = [];

  async function load() {
    const [steps, runs] = await Promise.all([
      host.steps > 0 ? fetchSteps() : null,
      host.module_runs > 0 ? fetchRuns() : null,
    ]);
    lanes = lanesOf({
      steps: steps ? stepBands(steps) : NO_STEPS,
      runs: runs ? moduleRuns(runs) : [],
      devices: runs?.devices ?? [],
    }).lanes;
  }

  /** The band after the shown one; without one, the first that begins in view. Modules come before steps. */
  function next(key, delta, view) {
    const lane = lanes.find((one) => one.kind === "modules") ?? lanes[0];
    if (!lane) return null;
    const { bands } = lane;
    const shown = Array.from({ length: bands.count }, (_, i) => bandKey(lane, i)).indexOf(key);
    const first = Math.max(
      0,
      bands.begin.findIndex((begin) => begin >= view.begin),
    );
    const i = shown < 0 ? first : shown + delta;
    if (i < 0 || i >= bands.count) return null;
    return { key: bandKey(lane, i), begin: bands.begin[i], end: bands.end[i] };
  }

  return { get: () => lanes, load, next };
}

function stepBands({ steps }) {
  return bandsOf(
    steps.step.map((step, i) => ({
      name: steps.name[i] || String(step),
      begin: steps.begin_ps[i],
      end: steps.end_ps[i],
    })),
  );
}

function moduleRuns({ runs, strings }) {
  return runs.name.map((name, i) => ({
    name: strings[name],
    device: runs.device[i],
    begin: runs.begin_ps[i],
    end: runs.end_ps[i],
  }));
}
