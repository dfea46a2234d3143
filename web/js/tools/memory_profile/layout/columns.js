// @ts-check
/**
 * The curve per pixel column: from entries in time to one lowest and one highest value a column. Coarse answers fill in
 * where a finer one does not reach, so that a picture is there while the server is asked. Pure.
 *
 *     coarse   [====================================]
 *     fine              [============]
 *     columns  | | | | | | | | | | | | | | | | | | |     the fine one wins where it covers a column
 */
import { span } from "../../../base/range.js";
import { wholeAxis } from "./time_axis.js";
import { entriesUntil, stateAfter } from "../data/curve.js";

const FACTS = ["usedMin", "usedMax", "stack", "top", "fragmentationMin", "fragmentationMax"];

/** Columns hold NaN where nothing is known. */
export function createColumns(count) {
  return { count, ...Object.fromEntries(FACTS.map((fact) => [fact, new Float64Array(count)])) };
}

/** @param {any[]} curves coarse to fine @param {import("../../../base/range.js").Range} view in units of the axis */
export function fillColumns(columns, curves, view, axis = wholeAxis(view)) {
  const perColumn = span(view) / columns.count;
  const scale = {
    columnOf: (time) => Math.round((axis.toAxis(time) - view.begin) / perColumn),
    timeOf: (column) => axis.toTime(view.begin + column * perColumn),
  };
  for (const fact of FACTS) columns[fact].fill(NaN);
  for (const curve of curves) fillFrom(columns, curve, scale);
  return columns;
}

function fillFrom(columns, curve, { columnOf, timeOf }) {
  const first = Math.max(0, columnOf(curve.from));
  const end = Math.min(columns.count, columnOf(curve.to));
  let i = entriesUntil(curve.lastTime, timeOf(first) - 1);
  let held = stateAfter(curve, i - 1);
  let inside = false; // the entry began in an earlier column
  for (let c = first; c < end; c += 1) {
    const until = timeOf(c + 1);
    clearColumn(columns, c);
    if (held && !inside) mergeState(columns, c, held);
    while (i < curve.count && curve.time[i] < until) {
      mergeEntry(columns, c, curve, i);
      inside = curve.lastTime[i] >= until;
      if (inside) break;
      held = stateAfter(curve, i);
      i += 1;
    }
  }
}

function clearColumn(columns, c) {
  for (const fact of FACTS) columns[fact][c] = NaN;
}

function mergeState(columns, c, state) {
  columns.usedMin[c] = state.used;
  columns.usedMax[c] = state.used;
  columns.stack[c] = state.stack;
  columns.top[c] = state.top;
  columns.fragmentationMin[c] = state.fragmentation;
  columns.fragmentationMax[c] = state.fragmentation;
}

function mergeEntry(columns, c, curve, i) {
  columns.usedMin[c] = lower(columns.usedMin[c], curve.usedMin[i]);
  columns.usedMax[c] = higher(columns.usedMax[c], curve.usedMax[i]);
  columns.stack[c] = higher(columns.stack[c], curve.stackMax[i]);
  columns.top[c] = higher(columns.top[c], curve.topLast[i]);
  columns.fragmentationMin[c] = lower(columns.fragmentationMin[c], curve.fragmentationMin[i]);
  columns.fragmentationMax[c] = higher(columns.fragmentationMax[c], curve.fragmentationMax[i]);
}

/** Math.min would let a NaN win. */
function lower(a, b) {
  return a < b || Number.isNaN(b) ? a : b;
}

function higher(a, b) {
  return a > b || Number.isNaN(b) ? a : b;
}
