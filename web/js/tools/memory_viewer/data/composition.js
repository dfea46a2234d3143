// @ts-check
// What the memory space is made of: the segments of the stacked bar. Pure.
import { CATEGORIES, TEMPORARY } from "./categories.js";
import { isLive } from "./live.js";

const FRAGMENTATION = {
  key: "fragmentation",
  label: "Fragmentation",
  title: "inside the temporary allocations, but not in use at the peak",
};
const THREAD_LOCAL = {
  key: "thread-local",
  label: "Thread-local",
  title: "allocated apart from the rest; neither XProf nor the peak counts it",
};

const LEAST_SHARE = 0.001; // of the whole: less is said as one

/**
 * @typedef {{key: string, label: string, title: string, bytes: number, hasBuffers?: boolean}} Segment
 * @returns {Segment[]} every segment, empty ones too
 */
export function compositionOf(view) {
  const { totals } = view;
  const sums = [
    totals.parameter_bytes,
    totals.aliased_bytes,
    totals.output_bytes,
    totals.constant_bytes,
    totals.temporary_bytes,
  ];
  const isSimulated = view.program.steps > 0;
  const live = isSimulated ? Math.max(0, totals.peak_bytes - totals.indefinite_bytes) : sums[TEMPORARY];
  const label = isSimulated ? "Temporary at peak" : "Temporary";
  /** @type {Segment[]} */
  const segments = CATEGORIES.map((category, i) => ({ ...category, bytes: sums[i], hasBuffers: true }));
  segments[TEMPORARY] = { ...CATEGORIES[TEMPORARY], label, bytes: live, hasBuffers: true };
  segments.push({ ...FRAGMENTATION, bytes: Math.max(0, sums[TEMPORARY] - live) });
  segments.push({ ...THREAD_LOCAL, bytes: totals.thread_local_bytes });
  return segments;
}

/** Those that a line has room for, and those that are too small to be seen. @param {Segment[]} segments */
export function mainParts(segments, total) {
  const isMain = (one) => one.bytes >= LEAST_SHARE * total;
  return { main: segments.filter(isMain), small: segments.filter((one) => !isMain(one)) };
}

/** What the rows of a group that are live at a step hold, by category. @param {import("./model.js").Model} model */
export function heldByCategory(model, rows, step) {
  const bytes = CATEGORIES.map(() => 0);
  for (const row of rows) if (isLive(model, row, step)) bytes[model.category[row]] += model.size[row];
  return new Map(CATEGORIES.map(({ key }, i) => [key, bytes[i]]));
}

/**
 * How the program stands against what the device has. A simulated peak above the total counts shared addresses more
 * than once (VMEM): no more than the total is ever needed.
 */
export function fitOf(totals, capacityBytes) {
  if (capacityBytes === null) return { state: "unknown", byBytes: 0 };
  const needed = Math.min(totals.peak_bytes, totals.total_allocation_bytes);
  if (needed > capacityBytes) return { state: "overflow", byBytes: needed - capacityBytes };
  if (totals.total_allocation_bytes > capacityBytes) {
    return { state: "fragmented", byBytes: totals.total_allocation_bytes - capacityBytes };
  }
  return { state: "fits", byBytes: capacityBytes - totals.total_allocation_bytes };
}
