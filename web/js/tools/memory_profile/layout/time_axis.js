// @ts-check
/**
 * The axis of time, with or without its idle stretches. What is drawn, zoomed and panned is in axis units; times
 * (hover, address, what the server is asked) are ps as ever. Where nothing is left out the two are the same. Pure.
 *
 *     time   0 . 1 . 2 ............................... 31 . 32     a busy ps is one unit
 *                    |           break                |
 *     axis   0 . 1 . 2 . . 4 . 5                                   a break is as wide as a sign for it needs
 *
 * Both ways are strictly monotonic, and inverse to each other.
 * @typedef {import("../../../base/range.js").Range} Range
 * @typedef {{begin: number, end: number, silence: Range}} Break in time; the silence is a little longer
 * @typedef {{full: Range, breaks: Break[], toAxis: (time: number) => number, toTime: (at: number) => number}} TimeAxis
 */
import { range, span } from "../../../base/range.js";

const LEAST_SHARE = 0.12; // of what the axis still shows: a shorter silence hides nothing
const LEAST_OF_LONGEST = 0.02; // silences of another kind are part of the picture
const MOST_BREAKS = 40;
const USUAL_SHARE = 0.5; // more idle time than that is left out without being asked
const BREAK_SHARE = 0.06; // of the busy time: the width of one break,
const ALL_BREAKS_SHARE = 0.3; // and of all together
const PAD_SHARE = 0.02; // of the busy time stays beside each break
const LEAST_PAD = 0.001; // of the break

/** @returns {TimeAxis} */
export function wholeAxis(full) {
  return { full, breaks: [], toAxis: (time) => time, toTime: (at) => at };
}

/** @param {Range} full @param {Range[]} silences of which those that matter are left out @returns {TimeAxis} */
export function brokenAxis(full, silences) {
  const chosen = worthCutting(full, silences);
  if (chosen.length === 0) return wholeAxis(full);
  const breaks = padded(chosen, span(full) - total(chosen));
  const knots = knotsOf(full, breaks);
  return {
    full: range(knots.at[0], knots.at[knots.at.length - 1]),
    breaks,
    toAxis: (time) => along(time, knots.time, knots.at),
    toTime: (at) => along(at, knots.at, knots.time),
  };
}

/** Whether so much of the axis is idle that nobody wants to see it. */
export function isMostlyIdle(full, silences) {
  return total(worthCutting(full, silences)) > span(full) * USUAL_SHARE;
}

const total = (ranges) => ranges.reduce((sum, one) => sum + span(one), 0);

/** The longest first, each of what those before it leave; in order of time. */
function worthCutting(full, silences) {
  const byLength = [...silences].sort((a, b) => span(b) - span(a));
  const chosen = [];
  let left = span(full);
  for (const silence of byLength) {
    const least = Math.max(left * LEAST_SHARE, span(byLength[0]) * LEAST_OF_LONGEST);
    if (span(silence) < least || chosen.length === MOST_BREAKS) break;
    chosen.push(silence);
    left -= span(silence);
  }
  return chosen.sort((a, b) => a.begin - b.begin);
}

/** The events at both ends stand a little apart from the break. */
function padded(breaks, busy) {
  return breaks.map((one) => {
    const pad = Math.min(span(one) / 4, Math.max(busy * PAD_SHARE, span(one) * LEAST_PAD));
    return { ...range(one.begin + pad, one.end - pad), silence: one };
  });
}

function knotsOf(full, breaks) {
  const busy = span(full) - total(breaks);
  const wide = busy * Math.min(BREAK_SHARE, ALL_BREAKS_SHARE / breaks.length);
  const time = [full.begin];
  const at = [full.begin];
  const go = (until, units) => {
    time.push(until);
    at.push(at[at.length - 1] + units);
  };
  for (const one of breaks) {
    go(one.begin, one.begin - time[time.length - 1]);
    go(one.end, wide);
  }
  go(full.end, full.end - time[time.length - 1]);
  return { time, at };
}

/** From one row of knots to the other; beyond the ends one to one. */
function along(value, from, to) {
  const last = from.length - 1;
  if (value <= from[0]) return to[0] + (value - from[0]);
  if (value >= from[last]) return to[last] + (value - from[last]);
  let i = 1;
  while (from[i] < value) i += 1;
  const share = (value - from[i - 1]) / (from[i] - from[i - 1]);
  return to[i - 1] + share * (to[i] - to[i - 1]);
}

/** A range of time in axis units, and back. */
export const onAxis = (axis, r) => range(axis.toAxis(r.begin), axis.toAxis(r.end));
export const inTime = (axis, r) => range(axis.toTime(r.begin), axis.toTime(r.end));

/** The break that holds a time; null in busy times. */
export function breakAt(axis, time) {
  return axis.breaks.find((one) => time > one.begin && time < one.end) ?? null;
}

/**
 * The stretches of time that a view shows between breaks, each with its share of the columns: what to ask for.
 * @param {TimeAxis} axis @param {Range} view in axis units @param {number} columns
 * @returns {{view: Range, columns: number}[]}
 */
export function piecesIn(axis, view, columns) {
  const seen = inTime(axis, view);
  const edges = [axis.full.begin, ...axis.breaks.flatMap((one) => [one.begin, one.end]), Infinity];
  const pieces = [];
  for (let i = 0; i + 1 < edges.length; i += 2) {
    const piece = range(Math.max(seen.begin, edges[i]), Math.min(seen.end, edges[i + 1]));
    if (piece.end <= piece.begin) continue;
    const share = span(onAxis(axis, piece)) / span(view);
    pieces.push({ view: piece, columns: Math.max(1, Math.round(columns * share)) });
  }
  return pieces.length > 0 ? pieces : [{ view: seen, columns }];
}

/** What is idle in all of several lists of silences, each in order of time. */
export function idleInAll(lists) {
  return lists.reduce((common, list) => common.flatMap((one) => list.flatMap((other) => overlap(one, other))));
}

function overlap(a, b) {
  const both = range(Math.max(a.begin, b.begin), Math.min(a.end, b.end));
  return both.end > both.begin ? [both] : [];
}

/** The silences of a memory within a window, with those before its first event and after its last. */
export function silencesOf(memory, full) {
  const { begin_ps: begin, end_ps: end } = memory.silences;
  const between = begin.map((from, i) => range(from, end[i]));
  return [range(full.begin, memory.begin_ps), ...between, range(memory.end_ps, full.end)].filter(
    (one) => one.end > one.begin,
  );
}
