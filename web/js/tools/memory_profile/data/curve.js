// @ts-check
/**
 * One answer of the server about a window of time, as typed arrays. An entry is one event, or, where many share a pixel
 * column, a bucket of them with the lowest and the highest of each fact, so that no spike is lost. Pure.
 *
 *     used   ^      max ──┐  ┌── last holds until the next entry
 *            |   ┌────────┤  v
 *   before ──┼───┘    min ┘──────────
 *           from  time..lastTime            to
 * @typedef {import("../../../base/range.js").Range} Range
 */

export function buildCurve(reply) {
  const count = reply.time_ps.length;
  const column = (name) => Float64Array.from(reply[name]);
  const withGaps = (name) => Float64Array.from(reply[name], (value) => value ?? NaN);
  const before = stateOf(reply.before);
  const stackLast = held(withGaps("stack_last"), before?.stack);
  const usedLast = held(sumOf(withGaps("heap_last"), withGaps("stack_last")), before?.used);
  const topLast = sumOf(withGaps("heap_last"), withGaps("stack_last"), withGaps("free_last"));
  return {
    from: reply.from_ps,
    to: reply.to_ps,
    isExact: reply.is_exact,
    events: reply.events,
    /** Of the detail: how much time one entry stands for at most. */
    grain: reply.is_exact ? 0 : (reply.to_ps - reply.from_ps) / reply.buckets,
    count,
    time: column("time_ps"),
    lastTime: column("last_time_ps"),
    firstRow: column("first_row"),
    eventCount: column("count"),
    peakRow: column("peak_row"),
    usedMin: withGaps("used_min"),
    usedMax: withGaps("used_max"),
    usedLast,
    stackMax: withGaps("stack_max"),
    stackLast,
    topLast: held(topLast, before?.top),
    fragmentationMin: withGaps("fragmentation_min"),
    fragmentationMax: withGaps("fragmentation_max"),
    fragmentationLast: withGaps("fragmentation_last"),
    before,
  };
}

/** An event that told no state leaves the one before it. */
function held(values, first) {
  let last = first ?? NaN;
  return values.map((value) => (Number.isNaN(value) ? last : (last = value)));
}

function sumOf(...columns) {
  return columns[0].map((_, i) => columns.reduce((sum, one) => sum + one[i], 0));
}

function stateOf(before) {
  if (!before) return null;
  const used = before.heap_bytes + before.stack_bytes;
  return {
    row: before.row,
    used,
    stack: before.stack_bytes,
    top: used + before.free_bytes,
    fragmentation: before.fragmentation ?? NaN,
  };
}

/** How many entries begin at or before a time. */
export function entriesUntil(times, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What holds after entry `i`; -1: before the first. Null where nothing is known. */
export function stateAfter(curve, i) {
  if (i < 0 || Number.isNaN(curve.usedLast[i])) return curve.before;
  return {
    row: curve.firstRow[i] + curve.eventCount[i] - 1,
    used: curve.usedLast[i],
    stack: curve.stackLast[i],
    top: curve.topLast[i],
    fragmentation: curve.fragmentationLast[i],
  };
}

/**
 * What a curve tells at a time: the state that holds, or, amid a bucket of events, its highest.
 * `row` is the event to tell about, `amid` how many events the bucket holds (0: the state is exact).
 */
export function tellAt(curve, time) {
  if (time < curve.from || time >= curve.to) return null;
  const i = entriesUntil(curve.time, time) - 1;
  if (i < 0 || curve.eventCount[i] === 1 || time > curve.lastTime[i]) {
    const state = stateAfter(curve, i);
    return state && { ...state, free: state.top - state.used, amid: 0 };
  }
  return {
    row: curve.peakRow[i] < 0 ? curve.firstRow[i] : curve.peakRow[i],
    used: curve.usedMax[i],
    stack: curve.stackMax[i],
    top: curve.topLast[i],
    free: curve.topLast[i] - curve.usedMax[i],
    fragmentation: curve.fragmentationLast[i],
    amid: curve.eventCount[i],
  };
}

/** Every event of `window` is an entry of its own here. */
export function isExactIn(curve, window) {
  return curve.isExact && curve.from <= window.begin && curve.to >= window.end;
}
