// @ts-check
// Where the parts of the timeline stand: lanes for steps and modules above the plot, axes around it. Pure.
import { niceStep, range, span, ticks } from "../../../base/range.js";
import { PS_PER_MS, msDigits } from "../../../base/time_text.js";
import { entriesUntil } from "../data/curve.js";
import { inTime, piecesIn, wholeAxis } from "./time_axis.js";

export const GUTTER_LEFT = 76;
export const GUTTER_RIGHT = 52;
export const GUTTERS = { left: GUTTER_LEFT, right: GUTTER_RIGHT, top: 6, below: 36 };
export const LANE_HEIGHT = 17;

const MOST_MODULE_LANES = 8;
const PER_TICK = 120;
const LEAST_APART = 56; // two labels of ticks
const CAPACITY_SHARE = 0.2;

/** The lanes there are: steps first, then one for each device with module runs. */
export function lanesOf(steps, runs, devices) {
  const lanes = steps.length > 0 ? [{ kind: "steps", label: "Steps", bands: bandsOf(steps) }] : [];
  devices.slice(0, MOST_MODULE_LANES).forEach((device, i) => {
    lanes.push({ kind: "modules", label: device, bands: bandsOf(runs, (one) => one.device === i) });
  });
  return lanes;
}

/** Intervals of a lane as columns, in order of time; `source` is the place of each in the list. */
export function bandsOf(list, keep = (_) => true) {
  const order = Array.from(list.keys()).filter((i) => keep(list[i]));
  order.sort((a, b) => list[a].begin_ps - list[b].begin_ps);
  const kept = order.map((i) => list[i]);
  return {
    count: kept.length,
    source: order,
    begin: Float64Array.from(kept, (one) => one.begin_ps),
    end: Float64Array.from(kept, (one) => one.end_ps),
    name: kept.map((one) => one.name || String(one.step)),
  };
}

/**
 * What of a lane can be seen: boxes of at least a pixel; those that would lie within one already there are merged.
 * @returns {{x0: number, x1: number, index: number, merged: number}[]}
 */
export function boxesIn(bands, view, width, axis = wholeAxis(view)) {
  const out = [];
  const toX = (time) => ((axis.toAxis(time) - view.begin) / span(view)) * width;
  const seen = inTime(axis, view);
  for (let i = Math.max(0, entriesUntil(bands.begin, seen.begin) - 1); i < bands.count; i += 1) {
    if (bands.begin[i] >= seen.end) break;
    const [x0, x1] = [Math.max(0, toX(bands.begin[i])), toX(bands.end[i])];
    if (x1 <= 0) continue;
    const before = out[out.length - 1];
    if (before && x1 - x0 < 1 && x0 < before.x1) before.merged += 1;
    else out.push({ x0, x1: Math.min(width, Math.max(x0 + 1, x1)), index: i, merged: 0 });
  }
  return out;
}

/** The band under a time; -1 when there is none. */
export function bandAt(bands, time, slack = 0) {
  const i = entriesUntil(bands.begin, time + slack) - 1;
  return i >= 0 && time < bands.end[i] + slack ? i : -1;
}

/** Tells one band from all others of the timeline. */
export function bandKey(lane, i) {
  return `${lane.kind} ${lane.bands.source[i]}`;
}

/** Ticks in ps, and how each is told in ms: round times between the breaks of the axis, as far apart as labels need. */
export function timeTicks(view, width, axis = wholeAxis(view)) {
  const perPixel = span(view) / Math.max(1, width);
  const step = niceStep(perPixel * PER_TICK);
  const at = [];
  for (const piece of piecesIn(axis, view, width)) {
    for (const time of ticks(piece.view, 0, step)) {
      const apart = at.length === 0 ? Infinity : axis.toAxis(time) - axis.toAxis(at[at.length - 1]);
      if (apart >= perPixel * LEAST_APART) at.push(time);
    }
  }
  return { step, at, textOf: (time) => (time / PS_PER_MS).toFixed(msDigits(step)) };
}

/** The use of all that is shown, or the whole capacity where the use is a fair part of it. */
export function usualHeights(memories) {
  const peak = Math.max(1, ...memories.map((one) => one.peak_bytes ?? 0));
  const capacity = Math.max(peak, ...memories.map((one) => one.capacity_bytes ?? 0));
  const use = range(0, peak * 1.12);
  const all = range(0, capacity * 1.04);
  return { use, all, usual: peak >= capacity * CAPACITY_SHARE ? all : use };
}
